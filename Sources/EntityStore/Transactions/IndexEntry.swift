import EntityModel
import LMDB

/// One entry of an index as it is stored.
public struct IndexEntry: Sendable {
  /// One part per key attribute; `nil` if the bytes cannot be decoded.
  public let parts: [IndexKeyPart]?
  /// The id of the record that the entry leads to; `nil` if the entry is too short to contain one.
  public let id: Int64?
  /// The key as LMDB stores it. The key of an index that is not unique ends in the record id.
  public let key: [UInt8]
}

extension ReadTransaction {
  /// Calls the closure with each entry of an index in key order, until it returns `false`. Damaged
  /// entries are included. Memory is bounded by one entry.
  ///
  /// - Throws: `unknownEntity`; `invalidRequest` if the entity has no index of this name, or if a
  ///   load has set it aside; a storage failure; the error of the closure.
  public func eachEntry(
    of entity: String, index name: String, _ body: (IndexEntry) throws -> Bool
  ) throws {
    let entity = try catalog.entity(entity)
    guard let index = entity.indexes.first(where: { $0.description.name == name }) else {
      throw StoreError.unknownIndex(name, of: entity)
    }
    try prepareToRead(entity)
    let reader = KeyReader(index)
    var cursor = try transaction.cursor(index.tree)
    var entry = try cursor.first()
    while let found = entry {
      let id = index.objectID(key: found.key, value: found.value)
      let read = IndexEntry(parts: reader.parts(of: found.key), id: id, key: Array(found.key))
      guard try body(read) else { return }
      entry = try cursor.next()
    }
  }
}

extension StoreError {
  fileprivate static func unknownIndex(_ name: String, of entity: EntityLayout) -> StoreError {
    let context = [("entity", entity.name), ("index", name)]
    if entity.deferredIndexes.contains(where: { $0.name == name }) {
      return StoreError(
        .invalidRequest, "a load has set the index aside", context,
        advice: "wait for the load, or run `mooring migrate up`, which builds it")
    }
    let names = entity.indexes.map(\.description.name)
    return StoreError(
      .invalidRequest, "no such index", context,
      advice: names.isEmpty ? "it has none" : "it has " + names.joined(separator: ", "))
  }
}
