package import EntityModel

/// A cursor over the record ids of the index entries whose leading parts have given values, in the
/// order of the following parts. For code that knows its indexes and asks so often that planning a
/// fetch would take longer than the lookup.
///
/// Belongs to its transaction. Changes that the transaction makes while the cursor is in use may or
/// may not be seen.
package struct IndexPrefixCursor {
  private let stream: IndexStream

  /// Positions the cursor before the first entry.
  ///
  /// - Parameter leading: The values of the first parts, null or of their kinds; none may be a text
  ///   so long that a key would cut it.
  /// - Parameter beyond: Skips the entries whose next part does not sort after this value.
  /// - Complexity: O(log *n*), and O(1) for each id.
  package init(
    _ index: IndexLayout, of entity: EntityLayout, leading: [Value], beyond: Value? = nil,
    in transaction: ReadTransaction
  ) throws {
    try transaction.prepareToRead(entity)
    let prefix = Self.prefix(of: index, leading)
    var range = KeyRange(prefix: prefix)
    if let beyond {
      range.lower = KeyRange.successor(of: Self.prefix(of: index, leading + [beyond])) ?? prefix
    }
    stream = try IndexStream(
      index, range, isReversed: false, orderedParts: index.parts.count, in: transaction, entity)
  }

  /// Returns the next record id, or `nil` at the end.
  package func next() throws -> Int64? { try stream.next() }

  /// Returns the number of index entries whose leading parts have given values.
  ///
  /// - Complexity: On a snapshot, reads the pages above the entries: a million entries in about a
  ///   millisecond.
  package static func count(
    _ index: IndexLayout, of entity: EntityLayout, leading: [Value],
    in transaction: ReadTransaction
  ) throws -> Int {
    try transaction.prepareToRead(entity)
    var count = EntryCount(of: index.tree, in: transaction)
    return try count.count(KeyRange(prefix: prefix(of: index, leading)), enough: .max)
  }

  private static func prefix(of index: IndexLayout, _ values: [Value]) -> [UInt8] {
    var writer = KeyWriter()
    for (part, value) in zip(index.parts, values) { index.append(part, value, to: &writer) }
    return Array(writer.bytes)
  }
}
