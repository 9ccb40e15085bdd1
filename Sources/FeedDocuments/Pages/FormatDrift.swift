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
  /// The number of optional members that were ignored because of a wrong type or range.
  package var droppedMembers = 0
  /// The number of values of a wrong type that a default replaces, by attribute.
  package var typeChanges: [String: Int] = [:]
  /// The number of unknown members that are too large to be kept with their item.
  package var extraLeftOut = 0

  mutating func add(_ other: FormatDrift) {
    unknownMembers += other.unknownMembers
    droppedMembers += other.droppedMembers
    extraLeftOut += other.extraLeftOut
    unknownKinds += other.unknownKinds
    typeChanges.merge(other.typeChanges, uniquingKeysWith: +)
    for name in other.unknownNames
    where unknownNames.count < Self.namesMax && !unknownNames.contains(name) {
      unknownNames.append(name)
    }
  }

  /// Counts a revision that is not an integer from 0; the item gets none.
  mutating func dropRevision() {
    droppedMembers += 1
    typeChanges["revision", default: 0] += 1
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
