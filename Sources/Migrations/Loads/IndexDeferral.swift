import EntityModel
import EntityObjects
import EntityStore

/// Sets the indexes of an entity aside before a load.
struct IndexDeferral {
  let store: Store
  let request: BatchInsertRequest

  /// Sets the indexes aside if that is of use: while the entity has no records but those that an
  /// interrupted run of the same load has inserted, and items are left. The other indexes stay, and
  /// so do all of them while something else is being built.
  ///
  /// - Returns: True if indexes have been set aside.
  /// - Throws: `newerFormat`, `damaged`, a storage failure; nothing is changed then.
  func run() throws -> Bool {
    let isDone = try store.changeSchema { transaction in
      guard transaction.catalog.running == nil, transaction.build == nil,
        let entity = transaction.schema.entity(named: request.entityName)
      else { return false }
      let inserted = try transaction.scope(author: nil) { try request.insertedBefore(in: $0) }
      guard let inserted, try transaction.size(ofEntity: entity.id).records == inserted else {
        return false
      }
      return try setAside(entity, in: transaction)
    }
    try store.catalogs.refresh()
    return isDone
  }

  private func setAside(
    _ entity: EntityDescription, in transaction: SchemaTransaction
  ) throws -> Bool {
    let indexes = transaction.schema.dispensableIndexes(ofEntity: entity.id)
    if indexes.isEmpty { return false }
    var schema = transaction.schema
    for number in schema.entities.indices where schema.entities[number].id == entity.id {
      schema.entities[number].indexes.removeAll { index in indexes.contains(index) }
    }
    var deferred = transaction.deferred
    // The generation stays: a process keeps the handle of each tree name that it has met, so that
    // new names would be used up. Readers of older snapshots still see the trees, because these are
    // dropped in this commit, and created again in a later one.
    deferred[entity.id] = (deferred[entity.id] + indexes).sorted { $0.id < $1.id }
    transaction.set(schema)
    transaction.set(deferred)
    try transaction.dropTrees(of: indexes)
    return true
  }
}
