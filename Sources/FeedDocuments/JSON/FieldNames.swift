import Glibc

/// The names of the fields of a page's items. Items mostly have the same members in the same order,
/// so the place of a name among them is guessed and compared, and its string is created once.
struct FieldNames {
  private struct Entry {
    /// The name in the document, as a range of `bytes`.
    let start: Int
    let count: Int
    let name: String
    /// The bit of the first entry with the same `name`.
    let bit: UInt64
  }

  /// More names are not kept.
  private static let entriesMax = 64

  private let name: (JSONValue) -> String
  private var entries: [Entry] = []
  private var bytes: [UInt8] = []
  /// The place at which the next name is expected.
  private var expected = 0
  /// The bits of the names that the item has had.
  private var met: UInt64 = 0
  /// True if the item has had a member whose name is not kept.
  private var hasOthers = false

  /// - Parameter name: Returns the name of a field from that of its member.
  init(_ name: @escaping (JSONValue) -> String) {
    self.name = name
  }

  mutating func beginItem() {
    (expected, met, hasOthers) = (0, 0, false)
  }

  /// Returns the name of the field of a member.
  ///
  /// - Returns: The name, and false if the item may have had a member of this name.
  mutating func next(_ member: JSONValue) -> (name: String, isNew: Bool) {
    guard let place = place(of: member.textBytes) ?? add(member) else {
      hasOthers = true
      return (name(member), false)
    }
    expected = place + 1
    let entry = entries[place]
    defer { met |= entry.bit }
    return (entry.name, met & entry.bit == 0 && !hasOthers)
  }

  private func place(of name: UnsafeRawBufferPointer) -> Int? {
    for place in expected..<entries.count where isName(name, at: place) { return place }
    for place in 0..<min(expected, entries.count) where isName(name, at: place) { return place }
    return nil
  }

  @inline(__always)
  private func isName(_ name: UnsafeRawBufferPointer, at place: Int) -> Bool {
    let entry = entries[place]
    guard entry.count == name.count, let start = name.baseAddress else { return false }
    return bytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return entry.count == 0 }
      // SAFETY: the entry is a range of `bytes`, and both have the compared number of bytes.
      return memcmp(base + entry.start, start, entry.count) == 0
    }
  }

  private mutating func add(_ member: JSONValue) -> Int? {
    guard entries.count < Self.entriesMax else { return nil }
    let name = name(member)
    let bit = entries.first { $0.name == name }?.bit ?? 1 << UInt64(entries.count)
    let start = bytes.count
    bytes.append(contentsOf: member.textBytes)
    entries.append(Entry(start: start, count: member.textBytes.count, name: name, bit: bit))
    return entries.count - 1
  }
}
