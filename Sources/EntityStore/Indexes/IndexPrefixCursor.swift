package import EntityModel

/// Hands out the object ids of the entries of an index whose leading parts have given values, in
/// the order of the parts that follow: for code that knows its indexes and asks so often that
/// planning a fetch would take longer than the answer.
///
/// Belongs to its transaction. What the transaction changes while the cursor stands may or may not
/// be met by it.
package struct IndexPrefixCursor {
  private let stream: IndexStream

  /// - Parameter leading: Of the first parts, of their kinds or null; none of them a text that a
  ///   key would cut.
  /// - Parameter beyond: Leaves out what the next part sorts up to this value.
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

  /// - Returns: `nil` at the end.
  package func next() throws -> Int64? { try stream.next() }

  private static func prefix(of index: IndexLayout, _ values: [Value]) -> [UInt8] {
    var writer = KeyWriter()
    for (part, value) in zip(index.parts, values) { index.append(part, value, to: &writer) }
    return Array(writer.bytes)
  }
}

extension EntityLayout {
  /// - Throws: `invalidRequest` if the entity has no such index.
  package func index(named name: String) throws(StoreError) -> IndexLayout {
    guard let index = indexes.first(where: { $0.description.name == name }) else {
      throw StoreError(
        .invalidRequest, "an entity has no index of this name",
        [("entity", self.name), ("index", name)])
    }
    return index
  }
}
