import EntityModel
import EntityStore
import Foundation
import StrictYAML

/// A step that scans many records, in chunks. Other writers can write between two chunks, and the
/// step never waits for readers.
///
///     records   each record is scanned; new attributes, which are still hidden, get their values
///     sorting   for each index: keys are read from snapshots and sorted in scratch files
///     writing   for each index: the keys are appended, chunk by chunk
///     catch-up  concurrent changes are taken over; in the transaction in which none is left, what
///               was built becomes part of the entity, and the step is done
///
/// A kill loses at most one chunk, or a sort, which starts again. An error in the records ends the
/// step: what it has built is discarded, and the store is as before the step. Exceptions are rows
/// that the step has visibly updated, deleted or backfilled: these changes stay.
struct LongStep {
  private let migrator: Migrator
  private let position: MigrationPosition

  init(_ migrator: Migrator, _ position: MigrationPosition) {
    self.migrator = migrator
    self.position = position
  }

  /// Runs the step.
  ///
  /// - Parameter finish: Called in the transaction that ends the step.
  func run(finish: (SchemaTransaction) throws -> Bool) throws -> Bool {
    do {
      return try runStages(finish: finish)
    } catch let error as StoreError where error.isOfData {
      try migrator.commit { transaction in
        try StepDiscard.run(position, because: error, in: transaction, migrator)
      }
      try migrator.removeScratch()
      throw error
    }
  }

  private func runStages(finish: (SchemaTransaction) throws -> Bool) throws -> Bool {
    var (work, frontier) = try begin()
    if let assertion = work.assertion {
      try store.read { try assertion.check(in: $0) }
      return try migrator.commit(finish)
    }
    try report(work, frontier)
    while true {
      if options.isCancelled() { throw CancellationError() }
      switch frontier.stage {
      case .records(let last):
        frontier = try migrator.commit { try goOver(work, frontier, after: last, in: $0) }
      case .sorting(let number):
        frontier = try sort(work, frontier, index: number, after: nil)
      case .appending(let number, let runs, let last):
        frontier = try append(work, frontier, index: number, runs, after: last)
      case .settling:
        let (next, result) = try migrator.commit { try settle(work, frontier, in: $0, finish) }
        if let result { return result }
        frontier = next
      }
      try report(work, frontier)
    }
  }

  private var store: Store { migrator.store }
  private var options: MigrationOptions { migrator.options }

  // MARK: Begin

  private func begin() throws -> (StepWork, MigrationFrontier) {
    if position.isBuilding {
      if let resumed = try resume() { return resumed }
      // The checkpoint of the step is lost.
      try migrator.commit { try StepDiscard.run(position, because: nil, in: $0, migrator) }
    }
    return try migrator.commit { transaction in
      guard let step = position.step else { throw migrator.lost(position) }
      let work = try migrator.work(of: step, position.migration, in: transaction)
      let frontier = MigrationFrontier(
        stage: firstStage(of: work), startedAt: store.options.now())
      if work.assertion != nil { return (work, frontier) }
      let build = EntityBuild(
        entityID: work.entityID, recordsChangedIDs: work.records?.followsChanges ?? false)
      transaction.set(work.interim, build: build.recordsChangedIDs ? build : nil)
      try transaction.put(work.after, at: CatalogTree.targetKey)
      var begun = position
      begun.buildChecksum = position.stepChecksum
      try migrator.save(begun, in: transaction)
      return (work, try enter(frontier.stage, frontier, work, in: transaction))
    }
  }

  private func resume() throws -> (StepWork, MigrationFrontier)? {
    guard let step = position.step else { throw migrator.lost(position) }
    return try store.read { transaction in
      guard let progress = try Self.write.load(in: transaction),
        let target = try store.catalogValue(
          Schema.self, at: CatalogTree.targetKey, in: transaction)
      else { return nil }
      let work = try StepWork(step, from: transaction.schema, to: target) { _ in true }
      return (work, progress.frontier)
    }
  }

  private func firstStage(of work: StepWork) -> MigrationFrontier.Stage {
    work.records != nil ? .records(last: .min) : .sorting(0)
  }

  // MARK: Records

  private func goOver(
    _ work: StepWork, _ frontier: MigrationFrontier, after last: Int64,
    in transaction: SchemaTransaction
  ) throws -> MigrationFrontier {
    guard let records = work.records else { throw migrator.lost(position) }
    var frontier = frontier
    let more = try transaction.scope(author: position.author) { scope in
      var last = last
      let deadline = ContinuousClock.now + options.chunkDuration
      var pass = try RecordPass(
        records, work, codes: migrator.codes, startedAt: frontier.startedAt, in: scope)
      let more = try pass.advance(after: &last, rows: &frontier.done) {
        ContinuousClock.now < deadline
      }
      frontier.matches += pass.matches
      if more {
        frontier.stage = .records(last: last)
        try save(frontier, in: scope)
      }
      return more
    }
    if more { return frontier }
    return try enter(
      work.indexes.isEmpty ? .settling : .sorting(0), frontier, work, in: transaction)
  }

  // MARK: Indexes

  /// Sorts the keys of an index, outside of any write transaction.
  ///
  /// - Parameter lastAppended: The last key in the index, if an earlier sort was lost after some of
  ///   its keys had been appended.
  private func sort(
    _ work: StepWork, _ frontier: MigrationFrontier, index number: Int, after lastAppended: Data?
  ) throws -> MigrationFrontier {
    let folder = KeyRunFolder(ofStore: store.folder)
    var writer = try KeyRunWriter(
      folder: folder, owner: EntityLayout.treeName(of: work.indexes[number]),
      memoryMax: options.sortMemory)
    var frontier = frontier
    frontier.done = 0
    var last = Int64.min
    var more = true
    while more {
      if options.isCancelled() { throw CancellationError() }
      // The snapshot is renewed at intervals, so that pages that are replaced in between can be
      // reused.
      let deadline = ContinuousClock.now + Self.snapshotDuration
      more = try store.read { transaction in
        let entity = try transaction.catalog.entity(work.entityName)
        let index = try entity.indexUnderConstruction(work.indexes[number])
        return try IndexKeys(index, of: entity).eachKey(
          after: &last, rows: &frontier.done, in: transaction,
          while: { ContinuousClock.now < deadline }
        ) { try writer.add($0) }
      }
      try report(work, frontier)
    }
    let runs = try writer.finish()
    return try migrator.commit { transaction in
      try enter(.appending(number, runs, last: lastAppended), frontier, work, in: transaction)
    }
  }

  private func append(
    _ work: StepWork, _ frontier: MigrationFrontier, index number: Int, _ runs: KeyRuns,
    after last: Data?
  ) throws -> MigrationFrontier {
    let folder = KeyRunFolder(ofStore: store.folder)
    guard try runs.verify(in: folder) else {
      // The appended keys stay, and the keys after them are sorted again.
      return try sort(work, frontier, index: number, after: last)
    }
    var merge = try runs.merge(in: folder, after: last.map(Array.init))
    var frontier = frontier
    var lastKey = last.map(Array.init)
    var more = true
    while more {
      if options.isCancelled() { throw CancellationError() }
      more = try migrator.commit { transaction in
        let isMore = try transaction.scope(author: position.author) { scope in
          let entity = try scope.catalog.entity(work.entityName)
          let construction = try IndexConstruction(work.indexes[number], of: entity, in: scope)
          let deadline = ContinuousClock.now + options.chunkDuration
          let more = try construction.append(&merge, after: &lastKey, rows: &frontier.done) {
            ContinuousClock.now < deadline
          }
          if more {
            frontier.stage = .appending(number, runs, last: lastKey.map { Data($0) })
            try save(frontier, in: scope)
          }
          return more
        }
        if !isMore {
          let next = number + 1
          frontier = try enter(
            next < work.indexes.count ? .sorting(next) : .settling, frontier, work,
            in: transaction)
        }
        return isMore
      }
      try report(work, frontier)
    }
    try runs.remove(from: folder)
    return frontier
  }

  // MARK: End

  /// Takes over concurrent changes.
  ///
  /// - Returns: The result of `finish` if no changes were left and the step is done; otherwise
  ///   `nil`.
  private func settle(
    _ work: StepWork, _ frontier: MigrationFrontier, in transaction: SchemaTransaction,
    _ finish: (SchemaTransaction) throws -> Bool
  ) throws -> (MigrationFrontier, Bool?) {
    var frontier = frontier
    frontier.rounds += 1
    let isPatient = frontier.rounds <= Limits.catchUpChunksMax
    let deadline = ContinuousClock.now + options.chunkDuration * (isPatient ? 1 : 4)
    let isSettled = try transaction.scope(author: position.author) { scope in
      let isSettled = try settle(work, &frontier, in: scope) { ContinuousClock.now < deadline }
      if isSettled { try Self.write.finish(in: scope) } else { try save(frontier, in: scope) }
      return isSettled
    }
    guard isSettled else { return (frontier, nil) }
    try transaction.delete(CatalogTree.targetKey)
    transaction.set(work.after)
    return (frontier, try finish(transaction))
  }

  private func settle(
    _ work: StepWork, _ frontier: inout MigrationFrontier, in scope: WriteTransaction,
    while hasRoom: () -> Bool
  ) throws -> Bool {
    guard let build = scope.catalog.build, let records = build.recordsChangedIDs ? work.records : nil
    else { return try settleIndexes(work, &frontier, in: scope, while: hasRoom) }
    let entity = try scope.catalog.entity(work.entityName)
    guard let sideLog = RecordSideLog(of: entity, in: scope) else { throw migrator.lost(position) }
    var pass = try RecordPass(
      records, work, codes: migrator.codes, startedAt: frontier.startedAt, in: scope)
    if try pass.catchUp(sideLog, rows: &frontier.done, while: hasRoom) { return false }
    guard try settleIndexes(work, &frontier, in: scope, while: hasRoom) else { return false }
    return try sideLog.isEmpty
  }

  private func settleIndexes(
    _ work: StepWork, _ frontier: inout MigrationFrontier, in scope: WriteTransaction,
    while hasRoom: () -> Bool
  ) throws -> Bool {
    if work.indexes.isEmpty { return true }
    let entity = try scope.catalog.entity(work.entityName)
    // The records that were just filled are in the side log, and deleted duplicates are added to
    // it.
    try scope.finishEntities()
    for index in work.indexes {
      var construction = try IndexConstruction(index, of: entity, in: scope)
      if try construction.catchUp(work.rule, rows: &frontier.done, while: hasRoom) { return false }
    }
    try scope.finishEntities()
    for index in work.indexes
    where try !IndexConstruction(index, of: entity, in: scope).isCaughtUp {
      return false
    }
    return true
  }

  // MARK: Checkpoint

  /// Begins a stage. The side log of an index begins with the stage in which its keys are read.
  private func enter(
    _ stage: MigrationFrontier.Stage, _ frontier: MigrationFrontier, _ work: StepWork,
    in transaction: SchemaTransaction
  ) throws -> MigrationFrontier {
    if case .sorting(let number) = stage {
      transaction.set(
        transaction.schema,
        build: EntityBuild(
          entityID: work.entityID, recordsChangedIDs: work.records?.followsChanges ?? false,
          indexes: Array(work.indexes.prefix(number + 1))))
    }
    var frontier = frontier
    frontier.stage = stage
    frontier.done = 0
    try transaction.scope(author: position.author) { try save(frontier, in: $0) }
    return frontier
  }

  private func save(_ frontier: MigrationFrontier, in scope: WriteTransaction) throws {
    try Self.write.save(.init(frontier: frontier, rows: frontier.done, chunks: 0), in: scope)
  }

  static let write = ChunkedWrite<MigrationFrontier>(name: "migration")
  /// The longest time for which a snapshot is held while keys are read.
  private static let snapshotDuration = Duration.milliseconds(200)

  private func report(_ work: StepWork, _ frontier: MigrationFrontier) throws {
    let stage: MigrationProgress.Stage
    var total = 0
    switch frontier.stage {
    case .records, .sorting:
      stage = if case .records = frontier.stage { .records } else { .sorting }
      total = try store.read { try $0.count(of: work.entityName) }
    case .appending(_, let runs, _):
      stage = .writing
      total = runs.keys
    case .settling: stage = .settling
    }
    migrator.report(position, stage, done: frontier.done, total: Int64(total))
  }
}

extension StoreError {
  /// True if the records cause the error, and not the disk or the caller.
  fileprivate var isOfData: Bool { code != .storage && code != .closed }
}
