import Foundation

/// A range of index keys that includes `lower` and excludes `upper`.
struct KeyRange: Equatable, Sendable {
  var lower: [UInt8]
  /// The upper bound; `nil` for the end of the index.
  var upper: [UInt8]?

  static let all = KeyRange(lower: [], upper: nil)
}

extension KeyRange {
  /// Creates the range of the keys that begin with the bytes.
  init(prefix: [UInt8]) {
    lower = prefix
    upper = KeyRange.successor(of: prefix)
  }

  /// Returns the least key that is greater than every key that begins with `prefix`; `nil` if there
  /// is none.
  static func successor(of prefix: [UInt8]) -> [UInt8]? {
    var bytes = prefix
    while let last = bytes.popLast() {
      if last < 0xff {
        bytes.append(last + 1)
        return bytes
      }
    }
    return nil
  }

  @inline(__always)
  func isBelowUpper(_ key: UnsafeRawBufferPointer) -> Bool {
    guard let upper else { return true }
    return upper.withUnsafeBytes { compare(key, $0) < 0 }
  }

  @inline(__always)
  func isAtLeastLower(_ key: UnsafeRawBufferPointer) -> Bool {
    lower.withUnsafeBytes { compare(key, $0) >= 0 }
  }
}
