import EntityModel
import EntityStore

/// Builds the indexes that loads have set aside, and puts them back into the schema. Only the
/// holder of the migration lock does this.
///
/// The indexes of one entity are built together, by the stages of a long step; those of a few
/// records in one transaction. The next run continues after a kill.
struct DeferredIndexBuild {
  let migrator: Migrator

  /// The author of the transactions.
  private static let author = "load"
  private static let saved = Checkpoint<MigrationCheckpoint>(name: "deferred indexes")

  /// Builds all deferred indexes. Does nothing while a step of a migration is partly done.
  ///
  /// - Throws: `damaged` for a record that cannot be read, `CancellationError`, `diskFull`,
  ///   `mapFull` or another storage failure. The indexes are then still deferred.
  func run() throws {
    while true {
      let catalog = try migrator.store.catalog()
      // A step that has begun would undo a change next to it, as in `CollationRebuild`.
      guard catalog.running?.buildChecksum == nil, let id = catalog.deferred.entities.keys.min()
      else { return }
      try build(id)
    }
  }

  /// Builds all deferred indexes, for a run of migrations, which may be the way to drop those that
  /// cannot be built.
  ///
  /// - Returns: The error for which they are still deferred, if other steps can run in spite of it.
  ///   The part that was built is dropped then, because there is one build at a time.
  /// - Throws: As `run`, any other error.
  func attempt() throws -> StoreError? {
    do {
      try run()
      return nil
    } catch let error as StoreError where error.leavesIndexesDeferred {
      try migrator.commit { transaction in
        if transaction.build != nil { try discard(in: transaction) }
      }
      try migrator.removeScratch()
      return error
    }
  }

  private func build(_ id: Int) throws {
    do {
      guard let (work, checkpoint) = try migrator.commit({ try begin(id, in: $0) }) else { return }
      try stages(of: work).run(from: checkpoint) { finish(work, in: $0) }
    } catch let error as StoreError where error.isOfData {
      try migrator.commit { try discard(in: $0) }
      try migrator.removeScratch()
      throw error
    }
    try migrator.removeScratch()
  }

  /// Begins or continues the build of an entity's indexes.
  ///
  /// - Returns: `nil` if the entity has so few records that the indexes have been built now.
  private func begin(
    _ id: Int, in transaction: SchemaTransaction
  ) throws -> (StepWork, MigrationCheckpoint)? {
    let work = try work(id, in: transaction.schema, transaction.deferred)
    if let build = transaction.build {
      // A build of other indexes is left from a program with another version of a collation.
      if build.entityID == id, work.indexes.starts(with: build.indexes),
        let progress = try transaction.scope(author: nil, { try Self.saved.load(in: $0) })
      {
        return (work, progress.position)
      }
      try discard(in: transaction)
    }
    if try transaction.size(ofEntity: id).isShort(migrator.options) {
      try ShortStep(work: work, author: Self.author, codes: []).run(in: transaction)
      finish(work, in: transaction)
      return nil
    }
    let checkpoint = MigrationCheckpoint(
      stage: .sorting(0), startedAt: migrator.store.options.now())
    return (work, try stages(of: work).enter(.sorting(0), checkpoint, in: transaction))
  }

  private func work(
    _ id: Int, in schema: Schema, _ deferred: DeferredIndexes
  ) throws -> StepWork {
    guard let entity = schema.entities.first(where: { $0.id == id }) else {
      throw StoreError.damaged("the entity of a deferred index is missing", entity: "\(id)")
    }
    let indexes = try deferred[id].map { index in
      var index = index
      index.collationVersion = try KeyCollation.version(of: index.keys)
      return index
    }
    return StepWork(building: indexes, of: entity, in: schema)
  }

  private func finish(_ work: StepWork, in transaction: SchemaTransaction) {
    var deferred = transaction.deferred
    deferred[work.entityID] = []
    transaction.set(deferred)
  }

  /// Drops what has been built so far. The indexes stay deferred.
  private func discard(in transaction: SchemaTransaction) throws {
    let indexes = transaction.build?.indexes ?? []
    transaction.set(transaction.schema)
    try transaction.dropTrees(of: indexes)
    try transaction.scope(author: nil) { try Self.saved.remove(in: $0) }
  }

  private func stages(of work: StepWork) -> StepStages {
    let lost = StoreError.damaged(
      "the build of deferred indexes contradicts itself", entity: work.entityName)
    return StepStages(
      migrator: migrator, work: work, author: Self.author, saved: Self.saved, lost: lost
    ) { stage, done, total in
      migrator.options.progress(
        MigrationProgress(
          line: "load", migration: work.entityName, step: 1, steps: 1,
          text: "build " + work.indexes.map(\.name).joined(separator: ", "), stage: stage,
          done: done, total: total, longestWait: migrator.longestWait))
    }
  }
}
