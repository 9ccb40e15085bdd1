/// What the items of a page show of changes in the feed's form.
package struct FormatDrift: Sendable {
  /// Names that are kept; all are counted.
  package static let namesMax = 16

  var unknownMembers = 0
  var unknownNames: [String] = []
  /// Items of kinds that the mapping does not name.
  var unknownKinds = 0
  /// Revisions and dates that could not be read.
  var droppedMembers = 0
  /// Values of a wrong type for which a default stands, by attribute.
  var typeChanges: [String: Int] = [:]
  /// Unknown members that were to be kept and are too large.
  var extraLeftOut = 0

  /// A revision that is no whole number from 0: the item has none.
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
