import Glibc
import TextFormats

/// Collects the fields of the items of a page.
///
/// Items mostly have the same members in the same order, so the place of a name among those of the
/// page is guessed and compared, and its string is created once.
struct FieldBuilder {
  /// A name in the document, as a range of `memberBytes`.
  private struct Member {
    let start: Int
    let count: Int
    /// The number of the field's name.
    let number: Int32
  }

  /// Names of members beyond these are found by their strings.
  private static let membersMax = 64

  private let rename: (JSONValue) -> String
  private var members: [Member] = []
  private var memberBytes: [UInt8] = []
  /// The place at which the next member is expected.
  private var expected = 0

  private var names: [String] = []
  private var numbers: [String: Int32] = [:]
  /// The number that the next name is expected to have.
  private var expectedNumber = 0
  /// The last field of each name, by the number of the name.
  private var lastEntries: [Int] = []

  private var entries: [FieldEntry] = []
  private var texts = ByteBuffer()
  private var others: [ScalarValue] = []
  /// The first field of the item.
  private var start = 0
  /// The end of the fields of complete items.
  private var end = 0

  /// - Parameter rename: Returns the name of a field from that of its member.
  init(_ rename: @escaping (JSONValue) -> String = \.text) {
    self.rename = rename
  }

  /// Reserves memory for so many items.
  mutating func reserve(_ items: Int) {
    // Most items have fewer fields.
    entries.reserveCapacity(12 * items)
  }

  /// Begins an item, and drops the fields of one that was not ended.
  mutating func beginItem() {
    if entries.count > end { entries.removeLast(entries.count - end) }
    (start, expected, expectedNumber) = (end, 0, 0)
  }

  /// Returns the fields of the item, to be completed with the result of `finish()`.
  mutating func endItem() -> FieldList {
    end = entries.count
    return FieldList(start..<end)
  }

  func finish() -> FieldValues {
    FieldValues(names: names, entries: entries, texts: texts, others: others)
  }

  // MARK: Values

  /// Sets the field of a member. The value of a repeated name replaces the earlier one.
  mutating func set(_ member: JSONValue, to value: JSONValue) {
    set(number(of: member), to: value)
  }

  mutating func set(_ name: String, to value: JSONValue) {
    set(number(of: name), to: value)
  }

  /// Adds a field whose name the item does not have.
  mutating func append(_ name: String, _ value: ScalarValue) {
    append(entry(number(of: name), value))
  }

  /// Returns true if the item has a field of that name.
  func has(_ name: String) -> Bool { numbers[name].flatMap(place(ofField:)) != nil }

  /// The fields of the item so far.
  var fields: FieldList {
    var list = FieldList(start..<entries.count)
    list.attach(finish())
    return list
  }

  @inline(__always)
  private mutating func set(_ number: Int32, to value: JSONValue) {
    let entry = entry(number, value)
    if let place = place(ofField: number) {
      entries[place] = entry
    } else {
      append(entry)
    }
  }

  @inline(__always)
  private func place(ofField number: Int32) -> Int? {
    // The field may be one of an item that was dropped.
    let last = lastEntries[Int(number)]
    return last >= start && last < entries.count && entries[last].name == number ? last : nil
  }

  @inline(__always)
  private mutating func append(_ entry: FieldEntry) {
    lastEntries[Int(entry.name)] = entries.count
    expectedNumber = Int(entry.name) + 1
    entries.append(entry)
  }

  @inline(__always)
  private mutating func entry(_ name: Int32, _ value: JSONValue) -> FieldEntry {
    switch value.kind {
    case .null: FieldEntry(name: name, kind: .null, bits: 0)
    case .bool: FieldEntry(name: name, kind: .bool, bits: value.bool == true ? 1 : 0)
    case .int64:
      FieldEntry(name: name, kind: .int64, bits: UInt64(bitPattern: value.int64 ?? 0))
    case .double: FieldEntry(name: name, kind: .double, bits: (value.double ?? 0).bitPattern)
    case .string: text(name, value.textBytes)
    case .array, .object, .unrepresentable: entry(name, ScalarValue(value))
    }
  }

  private mutating func text(_ name: Int32, _ bytes: UnsafeRawBufferPointer) -> FieldEntry {
    // A document has less than 4 GiB, and its texts together are not longer.
    let start = UInt64(UInt32(texts.count))
    texts.append(bytes)
    return FieldEntry(name: name, kind: .text, bits: start << 32 | UInt64(bytes.count))
  }

  private mutating func entry(_ name: Int32, _ value: ScalarValue) -> FieldEntry {
    others.append(value)
    return FieldEntry(name: name, kind: .other, bits: UInt64(others.count - 1))
  }

  // MARK: Names

  private mutating func number(of member: JSONValue) -> Int32 {
    guard let place = place(of: member.textBytes) else { return add(member) }
    expected = place + 1
    return members[place].number
  }

  private func place(of name: UnsafeRawBufferPointer) -> Int? {
    for place in expected..<members.count where isName(name, at: place) { return place }
    for place in 0..<min(expected, members.count) where isName(name, at: place) { return place }
    return nil
  }

  @inline(__always)
  private func isName(_ name: UnsafeRawBufferPointer, at place: Int) -> Bool {
    let member = members[place]
    guard member.count == name.count, let start = name.baseAddress else { return false }
    return memberBytes.withUnsafeBytes { bytes in
      guard let base = bytes.baseAddress else { return member.count == 0 }
      // SAFETY: the member is a range of `memberBytes`, and both have the compared number of bytes.
      return memcmp(base + member.start, start, member.count) == 0
    }
  }

  private mutating func add(_ member: JSONValue) -> Int32 {
    let number = number(of: rename(member))
    guard members.count < Self.membersMax else { return number }
    let bytes = member.textBytes
    members.append(Member(start: memberBytes.count, count: bytes.count, number: number))
    memberBytes.append(contentsOf: bytes)
    expected = members.count
    return number
  }

  private mutating func number(of name: String) -> Int32 {
    if expectedNumber < names.count, names[expectedNumber] == name { return Int32(expectedNumber) }
    if let number = numbers[name] { return number }
    let number = Int32(names.count)
    numbers[name] = number
    names.append(name)
    lastEntries.append(-1)
    return number
  }
}

extension FieldList: ExpressibleByArrayLiteral {
  package init(_ fields: [Field]) {
    var builder = FieldBuilder()
    builder.beginItem()
    for field in fields { builder.append(field.name, field.value) }
    self = builder.endItem()
    attach(builder.finish())
  }

  package init(arrayLiteral fields: Field...) { self.init(fields) }
}

extension ScalarValue {
  /// Copies a value of a document. O(size of the value).
  init(_ value: JSONValue) {
    switch value.kind {
    case .null: self = .null
    case .bool: self = .bool(value.bool ?? false)
    case .int64: self = .int64(value.int64 ?? 0)
    case .double: self = .double(value.double ?? 0)
    case .string: self = .string(value.text)
    case .array:
      let strings = value.elements.compactMap(\.string)
      self = strings.count == value.count ? .strings(strings) : .unrepresentable(value.text)
    case .object, .unrepresentable: self = .unrepresentable(value.text)
    }
  }
}
