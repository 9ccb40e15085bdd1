package import EntityModel

/// The indexes that loads have set aside and that are built again afterwards.
///
/// It is stored in the catalog, so that every process and every later start know them. A deferred
/// index is not in the schema: no write maintains it, and no fetch uses it. It has no tree; its
/// tree gets the same name again.
package struct DeferredIndexes: Codable, Hashable, Sendable {
  /// The deferred indexes by the id of their entity; no list is empty.
  package private(set) var entities: [Int: [IndexDescription]] = [:]

  package init() {}

  package var isEmpty: Bool { entities.isEmpty }

  /// The deferred indexes of an entity, in the order of their ids.
  package subscript(entityID: Int) -> [IndexDescription] {
    get { entities[entityID] ?? [] }
    set { entities[entityID] = newValue.isEmpty ? nil : newValue }
  }

  /// Returns the schema with the deferred indexes in their places.
  package func restored(in schema: Schema) -> Schema {
    var schema = schema
    for number in schema.entities.indices {
      schema.entities[number].put(self[schema.entities[number].id])
    }
    return schema
  }
}

extension EntityDescription {
  /// Adds indexes, or replaces those with the same ids. Indexes are in the order of their ids,
  /// because that is the order in which they were created.
  package mutating func put(_ added: [IndexDescription]) {
    if added.isEmpty { return }
    let ids = Set(added.map(\.id))
    indexes = (indexes.filter { !ids.contains($0.id) } + added).sorted { $0.id < $1.id }
  }
}
