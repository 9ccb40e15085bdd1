/// Canonical JSON: members sorted by the bytes of their names, the last one of a repeated name, no
/// white space, the fewest escapes. Numbers keep their digits.
struct CanonicalJSON {
  typealias Member = (name: JSONValue, value: JSONValue)

  private(set) var bytes: [UInt8] = []
  private let bytesMax: Int

  private init(bytesMax: Int) {
    self.bytesMax = bytesMax
  }

  /// Returns an object of the members that fit, taken in the order of their names, and the number
  /// of members that do not fit. The order of `members` does not matter. O(bytes), plus sorting.
  static func object(
    of members: some Sequence<Member>, bytesMax: Int
  ) -> (bytes: [UInt8], leftOut: Int) {
    // The last brace is sure to fit.
    var json = CanonicalJSON(bytesMax: bytesMax - 1)
    var leftOut = 0
    json.bytes.append(UInt8(ascii: "{"))
    for member in sorted(members) {
      let count = json.bytes.count
      if json.append(member, isFirst: count == 1) { continue }
      json.bytes.removeSubrange(count...)
      leftOut += 1
    }
    json.bytes.append(UInt8(ascii: "}"))
    return (json.bytes, leftOut)
  }

  private static func sorted(_ members: some Sequence<Member>) -> [Member] {
    let sorted = members.enumerated().sorted { a, b in
      let (left, right) = (a.element.name.textBytes, b.element.name.textBytes)
      if left.lexicographicallyPrecedes(right) { return true }
      return a.offset < b.offset && left.elementsEqual(right)
    }
    var result: [Member] = []
    result.reserveCapacity(sorted.count)
    for (_, member) in sorted {
      if let last = result.last, last.name.textBytes.elementsEqual(member.name.textBytes) {
        result.removeLast()
      }
      result.append(member)
    }
    return result
  }

  /// Returns false if the member does not fit; a part of it may have been written then.
  private mutating func append(_ member: Member, isFirst: Bool) -> Bool {
    if !isFirst { bytes.append(UInt8(ascii: ",")) }
    guard appendString(member.name) else { return false }
    bytes.append(UInt8(ascii: ":"))
    return append(member.value)
  }

  /// Recursion ends where the parser ends it, at `JSONDocument.maximumDepth`.
  private mutating func append(_ value: JSONValue) -> Bool {
    switch value.kind {
    case .object:
      // Each member takes four bytes and more: what cannot fit is not sorted.
      guard value.count <= room / 4 else { return false }
      bytes.append(UInt8(ascii: "{"))
      for (index, member) in Self.sorted(value.members).enumerated() {
        guard append(member, isFirst: index == 0) else { return false }
      }
      bytes.append(UInt8(ascii: "}"))
    case .array:
      bytes.append(UInt8(ascii: "["))
      for (index, element) in value.elements.enumerated() {
        if index > 0 { bytes.append(UInt8(ascii: ",")) }
        guard append(element) else { return false }
      }
      bytes.append(UInt8(ascii: "]"))
    case .string: return appendString(value)
    case .null, .bool, .int64, .double, .unrepresentable:
      guard value.textBytes.count <= room else { return false }
      bytes.append(contentsOf: value.textBytes)
    }
    return room >= 0
  }

  private mutating func appendString(_ string: JSONValue) -> Bool {
    guard string.textBytes.count <= room else { return false }
    bytes.appendJSONString(string.textBytes)
    return room >= 0
  }

  private var room: Int { bytesMax - bytes.count }
}
