import EntityModel
import EntityStore
import Foundation

/// A step that scans many records, in chunks (see `StepStages`).
///
/// An error in the records ends the step: what it has built is discarded, and the store is as
/// before the step. Exceptions are rows that the step has visibly updated, deleted or backfilled:
/// these changes stay.
struct LongStep {
  let migrator: Migrator
  let position: MigrationPosition

  static let saved = Checkpoint<MigrationCheckpoint>(name: "migration")

  /// Runs the step.
  ///
  /// - Parameter finish: Called in the transaction that ends the step.
  func run(finish: (SchemaTransaction) throws -> Bool) throws -> Bool {
    do {
      let (work, checkpoint) = try begin()
      if let assertion = work.assertion {
        try store.read { try assertion.check(in: $0) }
        return try migrator.commit(finish)
      }
      return try stages(of: work).run(from: checkpoint) { transaction in
        try transaction.delete(CatalogTree.targetKey)
        return try finish(transaction)
      }
    } catch let error as StoreError where error.isOfData {
      try migrator.commit { transaction in
        try StepDiscard.run(position, because: error, in: transaction, migrator)
      }
      try migrator.removeScratch()
      throw error
    }
  }

  private var store: Store { migrator.store }
  private var options: MigrationOptions { migrator.options }

  private func stages(of work: StepWork) -> StepStages {
    StepStages(
      migrator: migrator, work: work, author: position.author, saved: Self.saved,
      lost: migrator.lost(position)
    ) { stage, done, total in
      migrator.report(position, stage, done: done, total: total)
    }
  }

  private func begin() throws -> (StepWork, MigrationCheckpoint) {
    if position.isBuilding {
      if let resumed = try resume() { return resumed }
      // The checkpoint of the step is lost.
      try migrator.commit { try StepDiscard.run(position, because: nil, in: $0, migrator) }
    }
    return try migrator.commit { transaction in
      guard let step = position.step else { throw migrator.lost(position) }
      let work = try migrator.work(of: step, position.migration, in: transaction)
      let checkpoint = MigrationCheckpoint(
        stage: firstStage(of: work), startedAt: store.options.now())
      if work.assertion != nil { return (work, checkpoint) }
      let build = EntityBuild(
        entityID: work.entityID, recordsChangedIDs: work.records?.followsChanges ?? false)
      transaction.set(work.interim, build: build.recordsChangedIDs ? build : nil)
      try transaction.put(work.after, at: CatalogTree.targetKey)
      var begun = position
      begun.buildChecksum = position.stepChecksum
      try migrator.save(begun, in: transaction)
      return (work, try stages(of: work).enter(checkpoint.stage, checkpoint, in: transaction))
    }
  }

  private func resume() throws -> (StepWork, MigrationCheckpoint)? {
    guard let step = position.step else { throw migrator.lost(position) }
    return try store.read { transaction in
      guard let progress = try Self.saved.load(in: transaction),
        let target = try store.catalogValue(
          Schema.self, at: CatalogTree.targetKey, in: transaction)
      else { return nil }
      let work = try StepWork(step, from: transaction.schema, to: target) { _ in true }
      return (work, progress.position)
    }
  }

  private func firstStage(of work: StepWork) -> MigrationCheckpoint.Stage {
    work.records != nil ? .records(last: .min) : .sorting(0)
  }
}

extension StoreError {
  /// True if the records cause the error, and not the disk or the caller.
  var isOfData: Bool { !isStorageFailure && code != .closed }
}
