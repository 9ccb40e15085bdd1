import EntityModel
public import EntityStore
import Foundation
import SystemSupport

/// Applies migrations, and takes them back.
///
/// What is known of a run stands in the store: which migrations are applied, which steps of the one
/// under way are done, and how far the present step has come. It changes in the same transactions
/// as the schema and the records. So there is nothing to clear after a kill: whoever comes next
/// reads, after taking the lock, where to go on.
///
/// Steps that change the catalog alone, or few records, share a transaction for as long as they
/// follow each other. A longer step is done in chunks, by `LongStep`.
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

  // MARK: Runs

  /// Applies what is pending.
  func up() throws -> MigrationReport { try run(positions) }

  /// What is to be applied, from what has been.
  ///
  /// - Throws: `migration`, `newerSchema` if it cannot be.
  func positions(from state: MigrationState) throws -> [MigrationPosition] {
    if let newer = state.unknown.first { throw StoreError.newer(newer, "reading still works") }
    try state.checkApplicable()
    if let running = state.running, running.isDown { throw StoreError.isGoingDown(running) }
    let migrations = state.pending(upTo: options.targets)
    try requireFirst(state.running, of: migrations)
    return migrations.map { MigrationPosition($0, running: state.running) }
  }

  /// Takes back what a line has beyond a version.
  func down(_ line: String, to version: Int) throws -> MigrationReport {
    try run { state in
      if let running = state.running, !running.isDown { throw StoreError.isGoingUp(running) }
      let migrations = try state.applied(of: line, beyond: version)
      try requireFirst(state.running, of: migrations)
      return migrations.map { MigrationPosition($0, isDown: true, running: state.running) }
    }
  }

  /// The store keeps how far one migration has come: another one would take its place, and what is
  /// done of it would be forgotten.
  private func requireFirst(
    _ running: RunningMigration?, of migrations: [Migration]
  ) throws(StoreError) {
    guard let running, migrations.first.map({ running.isOf($0) }) != true else { return }
    throw running.isDown ? .isGoingDown(running) : .isGoingUp(running)
  }

  /// - Parameter next: What is to be done, from what has been done. The first may be done in part.
  private func run(
    _ next: (MigrationState) throws -> [MigrationPosition]
  ) throws -> MigrationReport {
    let lock = try MigrationLock(
      folder: store.folder, within: options.wait, isCancelled: options.isCancelled)
    try removeScratch()
    var report = MigrationReport()
    while true {
      if options.isCancelled() { throw CancellationError() }
      var positions = try next(store.migrationState())
      if positions.isEmpty { break }
      try MigrationPreflight(store, options).check(positions)
      if report.backup == nil { report.backup = try backUp(before: positions) }
      for index in positions.indices where positions[index].backup == nil {
        positions[index].backup = report.backup
      }
      let (done, long) = try runShortSteps(of: positions)
      report.migrations += done
      if let long, try runLongStep(long) { report.migrations.append(long.migration) }
    }
    try removeScratch()
    report.longestWait = watch.longest
    withExtendedLifetime(lock) {}
    return report
  }

  /// Removes sorted keys that nobody needs any more: who holds the lock is the only one who sorts.
  func removeScratch() throws {
    guard try store.catalog().build == nil else { return }
    try KeyRunFolder(ofStore: store.folder).removeLeftovers(except: [])
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

  /// Does steps for as long as they are short, all in one transaction.
  ///
  /// - Returns: Migrations that are complete by then, and the place of the long step that follows.
  private func runShortSteps(
    of positions: [MigrationPosition]
  ) throws -> (done: [Migration], long: MigrationPosition?) {
    try commit { transaction in
      var done: [Migration] = []
      for var position in positions {
        if position.isBuilding, position.buildChecksum != position.stepChecksum {
          // The step has been corrected since, or is gone.
          try StepDiscard.run(position, because: nil, in: transaction, self)
          position.buildChecksum = nil
        }
        while let step = position.step {
          if position.isBuilding { return (done, position) }
          let work = try work(of: step, position.migration, in: transaction)
          guard try isShort(work, in: transaction) else { return (done, position) }
          try ShortStep(work: work, author: position.author, codes: codes).run(in: transaction)
          position.done += 1
          try save(position, in: transaction)
        }
        try complete(position, in: transaction)
        done.append(position.migration)
      }
      return (done, nil)
    }
  }

  /// - Returns: Whether its migration is complete then.
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
    return try LongStep(self, position).run(finish: finish)
  }

  /// What is imported stays when it fails, and the next attempt goes on: an import knows by itself
  /// what of it is done.
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

  /// What a step takes in a schema.
  ///
  /// - Throws: `migration` if it does not fit.
  func work(
    of step: MigrationStep, _ migration: Migration, in transaction: SchemaTransaction
  ) throws -> StepWork {
    let schema = transaction.schema
    var change = SchemaChange(schema: schema)
    try SchemaChange.naming(migration) { () throws(StoreError) in try change.apply(step) }
    return try StepWork(step, from: schema, to: change.schema) { name in
      guard let entity = schema.entity(named: name) else { return false }
      return try transaction.size(ofEntity: entity.id).records > 0
    }
  }

  private func isShort(_ work: StepWork, in transaction: SchemaTransaction) throws -> Bool {
    if work.isNone { return true }
    if work.legacyImport != nil { return false }
    // An assertion is only read, and never in the way of a writer.
    let id =
      work.assertion == nil ? work.entityID : transaction.schema.entity(named: work.entityName)?.id
    return try transaction.size(ofEntity: id ?? 0).isShort(options)
  }

  // MARK: What is kept in the store

  /// Keeps how many steps of a migration are done.
  func save(
    _ position: MigrationPosition, lastError: String? = nil, in transaction: SchemaTransaction
  ) throws {
    let running = position.running(
      since: now, program: store.options.program, lastError: lastError)
    try transaction.put(CatalogTree.runningKey, try CatalogTree.encode(running))
  }

  private func complete(
    _ position: MigrationPosition, in transaction: SchemaTransaction
  ) throws {
    try transaction.delete(CatalogTree.runningKey)
    let migration = position.migration
    if position.isDown {
      return try transaction.delete(CatalogTree.historyKey(migration.line, migration.version))
    }
    try transaction.note(migration)
  }

  private var now: Double { store.options.now().timeIntervalSince1970 }

  /// Runs a closure in a transaction of its own.
  func commit<R>(_ body: (SchemaTransaction) throws -> R) throws -> R {
    // From when the lock is held.
    var start = ContinuousClock.now
    let result = try store.runAlone { writing, scratch in
      start = .now
      let transaction = try SchemaTransaction(writing, scratch, of: store)
      let result = try body(transaction)
      try transaction.finish()
      return result
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

/// What a run of migrations has done.
public struct MigrationReport: Sendable {
  /// What was applied or taken back, in order.
  public internal(set) var migrations: [Migration] = []
  /// The copy of the store that was made before a destructive step.
  public internal(set) var backup: String?
  /// The longest time for which another writer had to wait.
  public internal(set) var longestWait = Duration.zero
}

/// Measures how long writers have to wait for this one.
final class WriterWatch: Sendable {
  private let held = Locked(Duration.zero)

  var longest: Duration { held.withLock { $0 } }

  func note(_ time: Duration) { held.withLock { $0 = max($0, time) } }
}

extension Store {
  /// Applies what is pending, in the order in which lines require each other.
  ///
  /// Blocks the calling thread until the end. Others read all the time, and write between two
  /// chunks of a long step; what they write is part of the result. An interrupted run, by whatever,
  /// is gone on with by the next one.
  ///
  /// - Throws: `migration` for a file or step that is wrong, or a destructive step that is not
  ///   allowed; `validation`, `uniqueViolation` for records that a step refuses; `newerSchema`;
  ///   `storage`, with the code `busy` if another run is under way; `CancellationError`. The step
  ///   under way is then not done, and those before it are.
  @discardableResult
  public func migrate(_ options: MigrationOptions = MigrationOptions()) throws -> MigrationReport {
    try Migrator(self, options).up()
  }

  /// Takes back what a line has beyond a version, by the `down` steps of its files. As `migrate`.
  ///
  /// - Parameter version: The last one that stays; 0 takes the whole line back.
  /// - Throws: As `migrate`, and `migration` if a file has no `down` steps, or another line
  ///   requires what would go.
  @discardableResult
  public func migrateDown(
    _ line: String, to version: Int, _ options: MigrationOptions = MigrationOptions()
  ) throws -> MigrationReport {
    try Migrator(self, options).down(line, to: version)
  }
}
