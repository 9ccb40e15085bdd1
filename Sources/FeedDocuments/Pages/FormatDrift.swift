/// Signs that the feed's format has changed, as counted in the items of a page.
package struct FormatDrift: Sendable {
  /// The number of names that are listed; all members are counted.
  package static let namesMax = 16

  var unknownMembers = 0
  var unknownNames: [String] = []
  /// The number of items of kinds that the mapping does not name.
  var unknownKinds = 0
  /// The number of revisions and dates that could not be read.
  var droppedMembers = 0
  /// The number of values of a wrong type that a default replaces, by attribute.
  var typeChanges: [String: Int] = [:]
  /// The number of unknown members that are too large to be kept.
  var extraLeftOut = 0

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
