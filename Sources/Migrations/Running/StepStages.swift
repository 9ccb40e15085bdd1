import EntityModel
import EntityStore
import Foundation

/// The stages of work on many records, in chunks. Other writers can write between two chunks, and
/// the work never waits for readers.
///
///     records   each record is scanned; new attributes, which are still hidden, get their values
///     sorting   for each index: keys are read from snapshots and sorted in scratch files
///     writing   for each index: the keys are appended, chunk by chunk, while those of the next one
///               are sorted on a thread of their own
///     catch-up  concurrent changes are taken over; in the transaction in which none is left, what
///               was built becomes part of the entity, and the work is done
///
/// A kill loses at most one chunk, or a sort, which starts again.
struct StepStages {
  let migrator: Migrator
  let work: StepWork
  /// The author of the transactions.
  let author: String
  let saved: Checkpoint<MigrationCheckpoint>
  /// The error for a checkpoint that contradicts the catalog.
  let lost: StoreError
  /// Called after each commit with the records or keys of the stage that are done, and their total.
  let report: (MigrationProgress.Stage, _ done: Int64, _ total: Int64) -> Void

  /// Runs the stages from a checkpoint to their end.
  ///
  /// - Parameter finish: Called in the transaction that ends the work.
  func run<R>(
    from start: MigrationCheckpoint, finish: (SchemaTransaction) throws -> R
  ) throws -> R {
    var checkpoint = start
    var ahead: IndexSort.Running?
    defer { ahead?.abandon() }
    try report(checkpoint)
    while true {
      if options.isCancelled() { throw CancellationError() }
      switch checkpoint.stage {
      case .records(let last):
        checkpoint = try migrator.commit { try scanRecords(checkpoint, after: last, in: $0) }
      case .sorting(let number):
        checkpoint = try sort(checkpoint, index: number, after: nil, &ahead)
      case .appending(let number, let runs, let last):
        checkpoint = try append(checkpoint, index: number, runs, after: last, &ahead)
      case .catchingUp:
        let (next, result) = try migrator.commit { try catchUp(checkpoint, in: $0, finish) }
        if let result { return result }
        checkpoint = next
      }
      try report(checkpoint)
    }
  }

  private var store: Store { migrator.store }
  private var options: MigrationOptions { migrator.options }

  // MARK: Records

  private func scanRecords(
    _ checkpoint: MigrationCheckpoint, after last: Int64,
    in transaction: SchemaTransaction
  ) throws -> MigrationCheckpoint {
    guard let records = work.records else { throw lost }
    var (checkpoint, last) = (checkpoint, last)
    let next: MigrationCheckpoint.Stage = work.indexes.isEmpty ? .catchingUp : .sorting(0)
    _ = try runChunk(&checkpoint, then: next, in: transaction) { scope, checkpoint, chunk in
      var pass = try RecordPass(
        records, work, codes: migrator.codes, startedAt: checkpoint.startedAt, in: scope)
      let more = try pass.advance(after: &last, rows: &checkpoint.done) { chunk.hasRoom }
      checkpoint.matches += pass.matches
      checkpoint.stage = .records(last: last)
      return more
    }
    return checkpoint
  }

  // MARK: Indexes

  /// Sorts the keys of an index, outside of any write transaction, or takes those that were sorted
  /// ahead.
  ///
  /// - Parameter lastAppended: The last key in the index, if an earlier sort was lost after some of
  ///   its keys had been appended.
  private func sort(
    _ checkpoint: MigrationCheckpoint, index number: Int,
    after lastAppended: Data?, _ ahead: inout IndexSort.Running?
  ) throws -> MigrationCheckpoint {
    var checkpoint = checkpoint
    let runs: KeyRuns
    if let running = ahead, running.number == number {
      ahead = nil
      (runs, checkpoint.done) = try running.result()
      try report(checkpoint)
    } else {
      (runs, checkpoint.done) = try indexSort(number).run { done in
        checkpoint.done = done
        try report(checkpoint)
      }
    }
    return try migrator.commit { transaction in
      try enter(.appending(number, runs, last: lastAppended), checkpoint, in: transaction)
    }
  }

  private func indexSort(_ number: Int) -> IndexSort {
    IndexSort(
      store: store, entityName: work.entityName, index: work.indexes[number], number: number,
      memoryMax: options.sortMemory, isCancelled: options.isCancelled)
  }

  /// Begins to sort the keys of the index after the one that is being appended.
  private func sortAhead(of number: Int) throws -> IndexSort.Running? {
    // A build that an earlier program has begun has no side log for that index yet.
    guard number + 1 < work.indexes.count,
      let build = try store.catalog().build, number + 1 < build.indexes.count
    else { return nil }
    return indexSort(number + 1).start()
  }

  private func append(
    _ checkpoint: MigrationCheckpoint, index number: Int, _ runs: KeyRuns,
    after last: Data?, _ ahead: inout IndexSort.Running?
  ) throws -> MigrationCheckpoint {
    let folder = KeyRunFolder(ofStore: store.folder)
    guard try runs.verify(in: folder) else {
      // The appended keys stay, and the keys after them are sorted again.
      return try sort(checkpoint, index: number, after: last, &ahead)
    }
    if ahead == nil { ahead = try sortAhead(of: number) }
    var merge = try runs.merge(in: folder, after: last.map(Array.init))
    let next: MigrationCheckpoint.Stage =
      number + 1 < work.indexes.count ? .sorting(number + 1) : .catchingUp
    var checkpoint = checkpoint
    var lastKey = last.map(Array.init)
    var more = true
    while more {
      if options.isCancelled() { throw CancellationError() }
      more = try migrator.commit { transaction in
        try runChunk(&checkpoint, then: next, in: transaction) { scope, checkpoint, chunk in
          let entity = try scope.catalog.entity(work.entityName)
          let construction = try IndexConstruction(work.indexes[number], of: entity, in: scope)
          let more = try construction.append(&merge, after: &lastKey, rows: &checkpoint.done) {
            chunk.hasRoom
          }
          checkpoint.stage = .appending(number, runs, last: lastKey.map { Data($0) })
          return more
        }
      }
      try report(checkpoint)
    }
    try runs.remove(from: folder)
    return checkpoint
  }

  // MARK: End

  /// Takes over concurrent changes.
  ///
  /// - Returns: The result of `finish` if no changes were left and the step is done; otherwise
  ///   `nil`.
  private func catchUp<R>(
    _ checkpoint: MigrationCheckpoint, in transaction: SchemaTransaction,
    _ finish: (SchemaTransaction) throws -> R
  ) throws -> (MigrationCheckpoint, R?) {
    var checkpoint = checkpoint
    checkpoint.rounds += 1
    let isPatient = checkpoint.rounds <= StoreLimits.catchUpChunksMax
    let chunk = ChunkBudget(duration: options.chunkDuration * (isPatient ? 1 : 4))
    let isCaughtUp = try transaction.scope(author: author) { scope in
      let isCaughtUp = try catchUp(&checkpoint, in: scope) { chunk.hasRoom }
      if isCaughtUp { try saved.remove(in: scope) } else { try save(checkpoint, in: scope) }
      return isCaughtUp
    }
    guard isCaughtUp else { return (checkpoint, nil) }
    transaction.set(work.after)
    return (checkpoint, try finish(transaction))
  }

  private func catchUp(
    _ checkpoint: inout MigrationCheckpoint, in scope: WriteTransaction,
    while hasRoom: () -> Bool
  ) throws -> Bool {
    guard let build = scope.catalog.build,
      let records = build.recordsChangedIDs ? work.records : nil
    else { return try catchUpIndexes(&checkpoint, in: scope, while: hasRoom) }
    let entity = try scope.catalog.entity(work.entityName)
    guard let sideLog = RecordSideLog(of: entity, in: scope) else { throw lost }
    var pass = try RecordPass(
      records, work, codes: migrator.codes, startedAt: checkpoint.startedAt, in: scope)
    if try pass.catchUp(sideLog, rows: &checkpoint.done, while: hasRoom) { return false }
    guard try catchUpIndexes(&checkpoint, in: scope, while: hasRoom) else { return false }
    return try sideLog.isEmpty
  }

  private func catchUpIndexes(
    _ checkpoint: inout MigrationCheckpoint, in scope: WriteTransaction,
    while hasRoom: () -> Bool
  ) throws -> Bool {
    if work.indexes.isEmpty { return true }
    let entity = try scope.catalog.entity(work.entityName)
    // The records that were just filled are in the side log, and deleted duplicates are added to
    // it.
    try scope.finishEntities()
    for index in work.indexes {
      var construction = try IndexConstruction(index, of: entity, in: scope)
      if try construction.catchUp(work.rule, rows: &checkpoint.done, while: hasRoom) {
        return false
      }
    }
    try scope.finishEntities()
    for index in work.indexes
    where try !IndexConstruction(index, of: entity, in: scope).isCaughtUp {
      return false
    }
    return true
  }

  // MARK: Checkpoint

  /// Runs one chunk of a stage and saves the checkpoint. If nothing of the stage is left, the next
  /// stage begins in the same transaction.
  ///
  /// - Parameter body: Does the work for which the chunk has room, advances the checkpoint, and
  ///   returns true if there is more.
  /// - Returns: The result of the closure.
  private func runChunk(
    _ checkpoint: inout MigrationCheckpoint,
    then next: MigrationCheckpoint.Stage, in transaction: SchemaTransaction,
    _ body: (WriteTransaction, inout MigrationCheckpoint, ChunkBudget) throws -> Bool
  ) throws -> Bool {
    let more = try transaction.scope(author: author) { scope in
      var more: Bool
      repeat {
        more = try body(scope, &checkpoint, ChunkBudget(duration: options.chunkDuration))
      } while try more && scope.hasRoomForChunk()
      if more { try save(checkpoint, in: scope) }
      return more
    }
    if !more { checkpoint = try enter(next, checkpoint, in: transaction) }
    return more
  }

  /// Begins a stage. The side log of an index begins one stage before the one in which its keys are
  /// sorted, because they are sorted ahead.
  func enter(
    _ stage: MigrationCheckpoint.Stage, _ checkpoint: MigrationCheckpoint,
    in transaction: SchemaTransaction
  ) throws -> MigrationCheckpoint {
    if case .sorting(let number) = stage {
      transaction.set(
        transaction.schema,
        build: EntityBuild(
          entityID: work.entityID, recordsChangedIDs: work.records?.followsChanges ?? false,
          indexes: Array(work.indexes.prefix(number + 2))))
    }
    var checkpoint = checkpoint
    checkpoint.stage = stage
    checkpoint.done = 0
    try transaction.scope(author: author) { try save(checkpoint, in: $0) }
    return checkpoint
  }

  private func save(_ checkpoint: MigrationCheckpoint, in scope: WriteTransaction) throws {
    try saved.save(checkpoint, rows: checkpoint.done, in: scope)
  }

  private func report(_ checkpoint: MigrationCheckpoint) throws {
    let total =
      switch checkpoint.stage {
      case .records, .sorting: try store.read { try $0.count(of: work.entityName) }
      case .appending(_, let runs, _): runs.keys
      case .catchingUp: 0
      }
    report(checkpoint.stage.name, checkpoint.done, Int64(total))
  }
}
