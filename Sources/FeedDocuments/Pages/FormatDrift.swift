/// Signs that the feed's format has changed, as counted in the items of a page.
package struct FormatDrift: Equatable, Sendable {
  /// The number of names that are listed; all members are counted.
  package static let namesMax = 16

  /// The number of members that the format does not define, in the document and in its items. Names
  /// that begin with "_" are extensions and are not counted.
  package var unknownMembers = 0
  /// Names of unknown members of items, at most `namesMax`.
  package var unknownNames: [String] = []
  /// The number of items of kinds that the mapping does not name.
  package var unknownKinds = 0
  /// The names of such kinds, at most `namesMax`.
  package var unknownKindNames: [String] = []
  /// The number of optional members that were ignored because of a wrong type or range.
  package var droppedMembers = 0
  /// The number of values of a wrong type that a default replaces, by attribute.
  package var typeChanges: [String: Int] = [:]
  /// The number of dates that could not be read, and the first of them as written.
  package var unreadableDates = 0
  package var unreadableDate: String?
  /// The number of unknown members that are too large to be kept with their item.
  package var extraLeftOut = 0

  mutating func add(_ other: FormatDrift) {
    unknownMembers += other.unknownMembers
    Self.add(other.unknownKindNames, to: &unknownKindNames)
    droppedMembers += other.droppedMembers
    extraLeftOut += other.extraLeftOut
    unknownKinds += other.unknownKinds
    unreadableDates += other.unreadableDates
    unreadableDate = unreadableDate ?? other.unreadableDate
    typeChanges.merge(other.typeChanges, uniquingKeysWith: +)
    Self.add(other.unknownNames, to: &unknownNames)
  }

  /// Adds the names that the list lacks, as long as it has room.
  package static func add(_ names: [String], to list: inout [String]) {
    for name in names where list.count < namesMax && !list.contains(name) { list.append(name) }
  }

  /// Counts an item of an unknown kind and keeps the beginning of the kind's name.
  mutating func addUnknownKind(_ name: String?) {
    unknownKinds += 1
    if let name { Self.add([String(name.prefix(60))], to: &unknownKindNames) }
  }

  /// Counts a revision that is not an integer from 0; the item gets none.
  mutating func dropRevision() {
    droppedMembers += 1
    typeChanges["revision", default: 0] += 1
  }

  /// Counts a date that is in no known form.
  ///
  /// - Parameter name: The name of the date, for the message.
  mutating func addUnreadableDate(_ text: String, _ name: String) {
    unreadableDates += 1
    if unreadableDate == nil { unreadableDate = "\"\(text.excerpt())\" (\(name))" }
  }

  /// Counts an unknown member and keeps the beginning of its name.
  ///
  /// - Parameter name: UTF-8.
  mutating func addUnknown(_ name: UnsafeRawBufferPointer) {
    unknownMembers += 1
    guard unknownNames.count < Self.namesMax else { return }
    let name = String(decoding: name.prefix(60), as: UTF8.self)
    if !unknownNames.contains(name) { unknownNames.append(name) }
  }
}
