import EntityModel
import EntityStore

/// Drops what a step has begun to build. The steps before it stay.
enum StepDiscard {
  /// Drops what the step has built and stores the progress that is left.
  ///
  /// - Parameter error: The error of the records; `nil` if the step is abandoned for another
  ///   reason.
  static func run(
    _ position: MigrationPosition, because error: StoreError?, in transaction: SchemaTransaction,
    _ migrator: Migrator
  ) throws {
    // The checkpoint is kept if the step has visibly changed records: the same step continues
    // there.
    let begun = transaction.catalog.running?.buildChecksum
    let isKept = transaction.build == nil && error != nil && begun != nil
    if !isKept { try drop(in: transaction) }
    var left = position
    left.buildChecksum = isKept ? begun : nil
    if left.done == 0, !isKept {
      try transaction.delete(CatalogTree.runningKey)
    } else {
      try migrator.save(left, lastError: error.map { "\($0)" }, in: transaction)
    }
  }

  /// Drops what is being built, and its checkpoint.
  static func drop(in transaction: SchemaTransaction) throws {
    let catalog = transaction.catalog
    if catalog.build != nil { transaction.set(schemaWithoutHidden(catalog)) }
    try transaction.dropTrees(of: catalog.build?.indexes ?? [])
    try transaction.delete(CatalogTree.targetKey)
    try transaction.scope(author: nil) { try LongStep.saved.remove(in: $0) }
  }

  /// Returns the schema without the hidden attributes. Their layout stays, because records have
  /// been written in it, and so do the ids.
  private static func schemaWithoutHidden(_ catalog: Catalog) -> Schema {
    var schema = catalog.schema
    guard let id = catalog.build?.entityID,
      let number = schema.entities.firstIndex(where: { $0.id == id })
    else { return schema }
    schema.entities[number].attributes.removeAll { EntityBuild.isHiddenName($0.name) }
    return schema
  }
}
