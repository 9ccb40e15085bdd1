package import EntityModel
import Foundation

extension RecordField {
  /// Returns true if the field has this value, by the equality of `Value`. Most kinds are compared
  /// in place.
  package func holds(_ value: Value) throws(RecordDamage) -> Bool {
    if isNull { return value.isNull }
    switch (kind, value) {
    case (.int64, .int64(let number)): return int64 == number
    case (.double, .double(let number)): return double == number
    case (.date, .date(let date)): return double == date.timeIntervalSinceReferenceDate
    case (.bool, .bool(let flag)): return bool == flag
    case (.string, .string(let text)): return try hasText(text)
    default: return try self.value() == value
    }
  }

  private func hasText(_ text: String) throws(RecordDamage) -> Bool {
    let bytes = try bytes()
    var text = text
    return text.withUTF8 { compare(bytes, UnsafeRawBufferPointer($0)) == 0 }
  }
}

/// Compares two keys in LMDB's order: by bytes, then by length.
@inline(__always)
package func compare(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Int {
  let shared = min(a.count, b.count)
  if shared > 0, let left = a.baseAddress, let right = b.baseAddress {
    let order = memcmp(left, right, shared)
    if order != 0 { return Int(order) }
  }
  return a.count - b.count
}
