import EntityModel
public import EntityStore
import Foundation
import SystemSupport

/// Applies migrations, and undoes them.
///
/// The state of a run is in the store: which migrations are applied, which steps of the current one
/// are done, and the checkpoint of the current step. It changes in the same transactions as the
/// schema and the records. So nothing has to be cleaned up after a kill: the next run takes the
/// lock and reads from the store where to continue.
///
/// Consecutive steps that change only the catalog, or few records, share a transaction. A longer
/// step is done in chunks, by `LongStep`.
struct Migrator {
  let store: Store
  let options: MigrationOptions
  let known: KnownMigrations
  private let watch = WriterWatch()

  init(_ store: Store, _ options: MigrationOptions = MigrationOptions()) throws {
    self.store = store
    self.options = options
    known = try store.migrations
  }

  var codes: [MigrationCode] { known.codes }
  /// The longest time so far for which another writer had to wait.
  var longestWait: Duration { watch.longest }

  // MARK: Runs

  /// Applies the pending migrations, and gives seals to the records of a store that has none.
  func up() throws -> MigrationReport {
    try run(positions) {
      guard options.sealsRecords else { return }
      do {
        try store.sealRecords(
          chunkDuration: options.chunkDuration, isCancelled: options.isCancelled)
      } catch let error as StoreError where error.code == .damaged {
        // The migrations are applied. The check reports the damaged record, and that others have
        // no seals yet.
      }
    }
  }

  /// Returns the migrations that are to be applied, derived from those that have been applied.
  ///
  /// - Throws: `migration`, `newerSchema` if they cannot be applied.
  func positions(from state: MigrationState) throws -> [MigrationPosition] {
    if let newer = state.unknown.first { throw StoreError.newer(newer, "reading still works") }
    try state.checkApplicable()
    if let running = state.running, running.isDown { throw StoreError.isGoingDown(running) }
    let migrations = state.pending(upTo: options.targets)
    try requireFirst(state.running, of: migrations)
    return migrations.map { MigrationPosition($0, running: state.running) }
  }

  /// Undoes the migrations of a line after a version.
  func down(_ line: String, to version: Int) throws -> MigrationReport {
    try run { state in
      if let running = state.running, !running.isDown { throw StoreError.isGoingUp(running) }
      let migrations = try state.applied(of: line, beyond: version)
      try requireFirst(state.running, of: migrations)
      return migrations.map { MigrationPosition($0, isDown: true, running: state.running) }
    }
  }

  /// Throws unless the migration in progress is the first to run. The store can record the progress
  /// of one migration only, so that starting another one would lose that of the first.
  private func requireFirst(
    _ running: RunningMigration?, of migrations: [Migration]
  ) throws(StoreError) {
    guard let running, migrations.first.map({ running.isOf($0) }) != true else { return }
    throw running.isDown ? .isGoingDown(running) : .isGoingUp(running)
  }

  /// Runs migrations under the migration lock until none is left. First builds the indexes that an
  /// interrupted load has set aside: steps expect them in the schema. If they cannot be built, the
  /// steps that do not need them still run (see `SchemaTransaction.makesRoom`).
  ///
  /// - Parameter next: Returns the migrations that are to be run, derived from those that have been
  ///   applied. The first may be partly done.
  /// - Parameter end: Called under the lock when none is left.
  private func run(
    _ next: (MigrationState) throws -> [MigrationPosition], end: () throws -> Void = {}
  ) throws -> MigrationReport {
    let lock = try MigrationLock(
      of: store, within: options.wait, isCancelled: options.isCancelled)
    try removeScratch()
    var report = MigrationReport()
    while true {
      if options.isCancelled() { throw CancellationError() }
      let obstacle = try DeferredIndexBuild(migrator: self).attempt()
      var positions = try next(store.migrationState())
      if positions.isEmpty {
        // The next run reports it if this one has applied something.
        if let obstacle, report.migrations.isEmpty { throw obstacle }
        break
      }
      try MigrationPreflight(store: store, options: options).check(positions)
      if report.backup == nil { report.backup = try backUp(before: positions) }
      for index in positions.indices where positions[index].backup == nil {
        positions[index].backup = report.backup
      }
      let (done, long) = try runShortSteps(of: positions, obstacle)
      report.migrations += done
      if let long, try runLongStep(long) { report.migrations.append(long.migration) }
    }
    try removeScratch()
    try end()
    report.longestWait = watch.longest
    withExtendedLifetime(lock) {}
    return report
  }

  /// Removes sorted keys that are no longer needed. Only the holder of the lock sorts keys.
  func removeScratch() throws {
    guard try store.catalog().build == nil else { return }
    try KeyRunFolder(ofStore: store.folder).removeLeftovers()
  }

  private func backUp(before positions: [MigrationPosition]) throws -> String? {
    if let known = positions.first?.backup { return known }
    guard options.backsUp,
      positions.contains(where: { $0.remainder.contains(where: \.isDestructive) })
    else { return nil }
    return try MigrationBackup.make(
      of: store, before: positions[0], isCancelled: options.isCancelled)
  }

  // MARK: Steps

  /// Runs consecutive short steps in one transaction, up to one that has to wait for indexes that
  /// are set aside.
  ///
  /// - Parameter obstacle: The reason for which these have not been built.
  /// - Returns: The migrations that are complete then, and the position of the long step that
  ///   follows.
  private func runShortSteps(
    of positions: [MigrationPosition], _ obstacle: StoreError?
  ) throws -> (done: [Migration], long: MigrationPosition?) {
    try commit { transaction in
      var done: [Migration] = []
      var steps = 0
      for var position in positions {
        if position.isBuilding, position.buildChecksum != position.stepChecksum {
          // The step has been corrected since, or no longer exists.
          try StepDiscard.run(position, because: nil, in: transaction, self)
          position.buildChecksum = nil
        }
        while let step = position.step {
          if position.isBuilding { return (done, position) }
          if try !transaction.makesRoom(for: step) {
            // The indexes may be built once the steps so far are committed.
            if steps > 0 { return (done, nil) }
            throw obstacle ?? .waitsForLoad(step, position.migration)
          }
          let work = try work(of: step, position.migration, in: transaction)
          guard try isShort(work, in: transaction) else { return (done, position) }
          try ShortStep(work: work, author: position.author, codes: codes).run(in: transaction)
          position.done += 1
          try save(position, in: transaction)
          steps += 1
        }
        try complete(position, in: transaction)
        done.append(position.migration)
      }
      return (done, nil)
    }
  }

  /// Runs a step that is done in chunks.
  ///
  /// - Returns: True if its migration is complete then.
  private func runLongStep(_ position: MigrationPosition) throws -> Bool {
    func finish(_ transaction: SchemaTransaction) throws -> Bool {
      var next = position
      next.done += 1
      next.buildChecksum = nil
      try save(next, in: transaction)
      if next.step != nil { return false }
      try complete(next, in: transaction)
      return true
    }
    if case .importLegacy(let reference) = position.step {
      try importLegacy(reference, position)
      return try commit(finish)
    }
    return try LongStep(migrator: self, position: position).run(finish: finish)
  }

  /// Runs an import. Imported records stay if it fails, and the next attempt continues: an import
  /// records its own progress.
  private func importLegacy(
    _ reference: LegacyImportReference, _ position: MigrationPosition
  ) throws {
    let importer = try LegacyImporter.required(known.legacyImporter)
    let run = LegacyImportRun(
      store: store, isCancelled: options.isCancelled,
      progress: { report(position, .records, done: $0, total: $1) },
      commit: { body in
        try commit { transaction in
          try transaction.scope(author: position.author) { try body($0) }
        }
      })
    do {
      try importer.run(reference, run)
    } catch let error as StoreError {
      throw error.naming(position.migration)
    }
  }

  /// Returns the work that a step takes in a schema.
  ///
  /// - Throws: `migration` if it does not fit.
  func work(
    of step: MigrationStep, _ migration: Migration, in transaction: SchemaTransaction
  ) throws -> StepWork {
    let schema = transaction.schema
    var change = SchemaChange(schema: schema)
    try change.apply(step, of: migration)
    return try StepWork(step, from: schema, to: change.schema) { name in
      guard let entity = schema.entity(named: name) else { return false }
      return try transaction.size(ofEntity: entity.id).records > 0
    }
  }

  private func isShort(_ work: StepWork, in transaction: SchemaTransaction) throws -> Bool {
    if work.isNone { return true }
    if work.legacyImport != nil { return false }
    // An assertion only reads, and never makes a writer wait.
    let id =
      work.assertion == nil ? work.entityID : transaction.schema.entity(named: work.entityName)?.id
    return try transaction.size(ofEntity: id ?? 0).isShort(options)
  }

  // MARK: Stored state

  /// Stores the number of steps of a migration that are done.
  func save(
    _ position: MigrationPosition, lastError: String? = nil, in transaction: SchemaTransaction
  ) throws {
    let running = position.running(
      since: now, program: store.options.program, lastError: lastError)
    try transaction.put(running, at: CatalogTree.runningKey)
  }

  private func complete(
    _ position: MigrationPosition, in transaction: SchemaTransaction
  ) throws {
    try transaction.delete(CatalogTree.runningKey)
    let migration = position.migration
    if position.isDown {
      return try transaction.delete(CatalogTree.historyKey(migration.line, migration.version))
    }
    try transaction.record(migration)
  }

  private var now: Double { store.options.now().timeIntervalSince1970 }

  /// Runs a closure in its own transaction.
  func commit<R>(_ body: (SchemaTransaction) throws -> R) throws -> R {
    // Measured from the moment at which the writer lock is held.
    var start = ContinuousClock.now
    let result = try store.changeSchema { transaction in
      start = .now
      return try body(transaction)
    }
    watch.note(ContinuousClock.now - start)
    try store.catalogs.refresh()
    return result
  }

  // MARK: Progress

  func report(
    _ position: MigrationPosition, _ stage: MigrationProgress.Stage, done: Int64, total: Int64
  ) {
    options.progress(
      MigrationProgress(
        line: position.migration.line, migration: position.migration.name,
        step: position.done + 1, steps: position.steps.count,
        text: position.step?.description ?? "", stage: stage, done: done,
        total: total, longestWait: watch.longest))
  }

  func lost(_ position: MigrationPosition) -> StoreError {
    StoreError(
      .damaged, "the progress of a migration contradicts itself",
      [("migration", "\(position.migration.line) \(position.migration.name)")],
      advice: "run `mooring migrate abandon`, then `mooring migrate up`")
  }
}

/// The result of a run of migrations.
public struct MigrationReport: Sendable {
  /// The migrations that were applied or undone, in order.
  public internal(set) var migrations: [Migration] = []
  /// The copy of the store that was made before a destructive step.
  public internal(set) var backup: String?
  /// The longest time for which another writer had to wait.
  public internal(set) var longestWait = Duration.zero
}

/// Measures how long other writers have to wait for this one.
final class WriterWatch: Sendable {
  private let held = Locked(Duration.zero)

  var longest: Duration { held.withLock { $0 } }

  func note(_ time: Duration) { held.withLock { $0 = max($0, time) } }
}

extension Store {
  /// Applies the pending migrations, in the order in which lines require each other. Then the
  /// records of a store of an earlier version get seals, by which damage is found; programs of
  /// earlier versions can only read the store from then on.
  ///
  /// Blocks the calling thread until the end. Others can read at any time, and write between two
  /// chunks of a long step; their changes are part of the result. The next run continues an
  /// interrupted one, whatever the cause of the interruption.
  ///
  /// Indexes that an interrupted load has set aside are built first. If they cannot be built, the
  /// migrations run up to a step that needs their entity, other than one that drops them or it.
  /// The error is thrown then, and if no migration was applied.
  ///
  /// - Throws: `migration` for a file or step that is invalid, or a destructive step that is not
  ///   allowed; `validation`, `uniqueViolation` for records that a step refuses; `newerSchema`;
  ///   `busy` if another run is in progress; `diskFull`, `mapFull` before anything is done if there
  ///   is no room; `readOnly`; `CancellationError`. The current step is then not done, and those
  ///   before it are.
  @discardableResult
  public func migrate(_ options: MigrationOptions = MigrationOptions()) throws -> MigrationReport {
    try Migrator(self, options).up()
  }

  /// Undoes the migrations of a line after a version, by the `down` steps of its files. Runs as
  /// `migrate` does.
  ///
  /// - Parameter version: The last version that stays; 0 undoes the whole line.
  /// - Throws: The errors of `migrate`, and `migration` if a file has no `down` steps, or another
  ///   line requires what would be removed.
  @discardableResult
  public func migrateDown(
    _ line: String, to version: Int, _ options: MigrationOptions = MigrationOptions()
  ) throws -> MigrationReport {
    try Migrator(self, options).down(line, to: version)
  }
}

extension SchemaTransaction {
  /// Records a migration as applied.
  @discardableResult
  func record(_ migration: Migration, isBaseline: Bool = false) throws -> AppliedMigration {
    let history = try appliedMigrations()
    let entry = AppliedMigration(
      line: migration.line, version: migration.version, name: migration.name,
      checksum: migration.checksum, appliedAt: store.options.now().timeIntervalSince1970,
      sequence: (history.map(\.sequence).max() ?? 0) + 1, older: migration.older,
      program: store.options.program, creates: migration.steps.flatMap(\.makes).map(\.text),
      isBaseline: isBaseline ? true : nil)
    try put(entry, at: CatalogTree.historyKey(migration.line, migration.version))
    return entry
  }
}
