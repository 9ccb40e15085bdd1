public import EntityStore

/// The relation between the migrations that a program knows and those that were applied to a store.
public struct MigrationState: Sendable {
  /// The migrations that are still to be applied, in an order that satisfies `requires`. Those with
  /// `ifMissing` steps come as late as possible: another line may add the attributes. The first
  /// migration may be partly done: see `running`.
  public let pending: [Migration]
  /// The migration of which only some steps are done.
  public let running: RunningMigration?
  /// Migrations that a newer program has applied: their line is known to this program, but ends
  /// before them.
  public let unknown: [AppliedMigration]
  /// Applied migrations whose file has been changed since.
  public let changed: [Migration]
  /// Pending migrations that require something that is neither applied nor known.
  public let unmet: [Migration]
  /// Files at a place where another migration was applied: a file was inserted before one that was
  /// already applied to the store.
  public let displaced: [(applied: AppliedMigration, file: Migration)]
  private let lines: [MigrationLine]
  private let history: [AppliedMigration]

  init(
    lines: [MigrationLine], history: [AppliedMigration], running: RunningMigration? = nil
  ) {
    self.lines = lines
    self.history = history
    self.running = running
    var applied: [String: [AppliedMigration]] = [:]
    for entry in history { applied[entry.line, default: []].append(entry) }
    var queue: [Migration] = []
    var unknown: [AppliedMigration] = []
    var changed: [Migration] = []
    var displaced: [(applied: AppliedMigration, file: Migration)] = []
    for line in lines {
      let done = applied[line.name] ?? []
      unknown += done.dropFirst(line.migrations.count)
      for (migration, entry) in zip(line.migrations, done)
      where migration.checksum != entry.checksum {
        let isElsewhere = line.migrations.contains { $0.checksum == entry.checksum }
        if isElsewhere { displaced.append((entry, migration)) } else { changed.append(migration) }
      }
      queue += line.migrations.dropFirst(done.count)
    }
    self.unknown = unknown
    self.changed = changed
    self.displaced = displaced
    // The migration in progress comes first, before all others that could be applied.
    if let running, let index = queue.firstIndex(where: { running.isOf($0) }) {
      queue.insert(queue.remove(at: index), at: 0)
    }
    var reached = applied.mapValues(\.count)
    var ordered: [Migration] = []
    while let index = queue.next(after: reached, running) {
      let migration = queue.remove(at: index)
      ordered.append(migration)
      reached[migration.line] = migration.version
    }
    pending = ordered
    unmet = queue
  }

  /// Returns the pending migrations up to the given version of each line, by name. Migrations that
  /// require later versions are left out.
  func pending(upTo targets: [String: Int]) -> [Migration] {
    var reached = Dictionary(grouping: history, by: \.line).mapValues(\.count)
    return pending.filter { migration in
      guard migration.version <= targets[migration.line] ?? .max, migration.canFollow(reached)
      else { return false }
      reached[migration.line] = migration.version
      return true
    }
  }

  /// Checks that the pending migrations can be applied.
  ///
  /// - Throws: `migration` if a file was changed or a requirement cannot be met.
  func checkApplicable() throws(StoreError) {
    try checkFiles()
    if let running { _ = try migration(of: running) }
  }

  private func checkFiles() throws(StoreError) {
    if let (entry, file) = displaced.first {
      throw StoreError(
        .migration, "a migration has been put before one that is applied",
        [("line", file.line), ("file", file.name), ("applied", entry.name)],
        advice: "give it the number after the last one of its line")
    }
    if let migration = changed.first {
      throw StoreError(
        .migration, "a migration was changed after it was applied",
        [("line", migration.line), ("file", migration.name)],
        advice: "put the file back as it was and write the change as a new migration")
    }
    if let migration = unmet.first {
      let missing = migration.requires.map { "\($0.line)@\($0.version)" }
      throw StoreError(
        .migration, "a migration requires another one that is missing",
        [("file", migration.name), ("requires", missing.joined(separator: ", "))],
        advice: "add the line with --migrations")
    }
  }

  /// Returns the file of the migration in progress.
  ///
  /// - Throws: `migration` if the file is missing, or the steps that are done have been changed.
  func migration(of running: RunningMigration) throws(StoreError) -> Migration {
    let name = [("migration", "\(running.line) \(running.name)")]
    let known = lines.first { $0.name == running.line }?.migrations
    guard let migration = known?.first(where: { running.isOf($0) }) else {
      throw StoreError(
        .migration, "a migration is in progress, and its file is missing", name,
        advice: "name its folder with --migrations and run `mooring migrate up`")
    }
    let checksums = running.isDown ? migration.downChecksums : migration.stepChecksums
    guard checksums.starts(with: running.doneChecksums) else {
      throw StoreError(
        .migration, "a migration was changed in steps that are done already",
        name + [("steps done", String(running.doneChecksums.count))],
        advice: "put these steps back as they were; those after them may be corrected")
    }
    return migration
  }

  /// Checks that this program may read the store.
  ///
  /// - Throws: `newerSchema` if a migration was applied that this program does not know and that
  ///   excludes such programs.
  func checkReadable() throws(StoreError) {
    if let newer = unknown.first(where: { $0.older == .refuse }) {
      throw .newer(newer, "this one cannot open it")
    }
  }

  /// Checks that this program may write to the store.
  ///
  /// - Throws: `newerSchema`, `needsMigration`, or the errors of `checkApplicable`.
  func checkWritable() throws(StoreError) {
    if let newer = unknown.first(where: { $0.older != .write }) {
      throw .newer(newer, "reading still works")
    }
    try checkFiles()
    if let running { try checkWritable(during: running) }
    if let next = pending.first { throw isPending("\(next.line) \(next.name)") }
  }

  /// Checks that this program may write during a migration. The migrating process takes over
  /// concurrent changes. So programs that do not know the migration may write until a step is done
  /// that they could not maintain.
  private func checkWritable(during running: RunningMigration) throws(StoreError) {
    guard let line = lines.first(where: { $0.name == running.line }) else { return }
    if line.migrations.contains(where: { running.isOf($0) }) {
      _ = try migration(of: running)
      throw isPending("\(running.line) \(running.name)")
    }
    if running.doneChecksums.isEmpty || running.older == .write { return }
    throw StoreError(
      .newerSchema, "the store is being migrated by a newer version of this program",
      [("line", running.line), ("migration", running.name)],
      advice:
        "install the version that knows \(running.line)@\(running.version); reading still works")
  }

  /// Checks that this program may write to the store in a folder, as `checkWritable()` does.
  ///
  /// - Throws: the errors of `checkWritable()`, and `busy` if another process is applying the
  ///   missing migrations. The caller should wait then; nothing is wrong with the store.
  func checkWritable(in folder: String) throws(StoreError) {
    do {
      try checkWritable()
    } catch  where error.code == .needsMigration || running != nil && error.code == .migration {
      throw MigrationLock.holder(in: folder).map(MigrationLock.busy(by:)) ?? error
    }
  }

  private func isPending(_ next: String) -> StoreError {
    StoreError(
      .needsMigration, "the store has pending migrations",
      [("next", next), ("pending", String(max(1, pending.count)))],
      advice: "run `mooring migrate plan`")
  }

  /// Returns the files of the migrations that were applied to a line after a version, the last one
  /// first.
  ///
  /// - Throws: `migration` if one is missing, was changed, has no `down` steps, or is required.
  func applied(of line: String, beyond version: Int) throws(StoreError) -> [Migration] {
    try checkApplicable()
    let count = history.count { $0.line == line }
    guard version < count else { return [] }
    for other in history where other.line != line {
      let file = lines.first { $0.name == other.line }?.migrations
        .first { $0.version == other.version }
      if let need = file?.requires.first(where: { $0.line == line && $0.version > version }) {
        throw StoreError(
          .migration, "another line requires what would be undone",
          [("line", other.line), ("requires", "\(need.line)@\(need.version)")],
          advice: "undo that line first")
      }
    }
    var migrations: [Migration] = []
    for number in (max(0, version)..<count).reversed() {
      let known = lines.first { $0.name == line }?.migrations
      guard let migration = known?.first(where: { $0.version == number + 1 }) else {
        throw StoreError(
          .migration, "the file of a migration that would be undone is missing",
          [("migration", "\(line)@\(number + 1)")], advice: "name its folder with --migrations")
      }
      if migration.down.isEmpty {
        throw StoreError(
          .migration, "a migration has no `down` steps",
          [("migration", "\(line) \(migration.name)")],
          advice: "restore a backup, or write a new migration that undoes it")
      }
      migrations.append(migration)
    }
    return migrations
  }
}

extension StoreError {
  static func newer(_ newer: AppliedMigration, _ what: String) -> StoreError {
    StoreError(
      .newerSchema, "the store has been migrated by a newer version of this program",
      [("line", newer.line), ("migration", newer.name)]
        + (newer.program.map { [("by", $0)] } ?? []),
      advice: "install the version that knows \(newer.line)@\(newer.version); \(what)")
  }

  static func isGoingDown(_ running: RunningMigration) -> StoreError {
    StoreError(
      .migration, "a migration is being undone",
      [("migration", "\(running.line) \(running.name)")],
      advice: "finish that with `mooring migrate down \(running.line)`")
  }

  static func isGoingUp(_ running: RunningMigration) -> StoreError {
    StoreError(
      .migration, "a migration is in progress",
      [("migration", "\(running.line) \(running.name)")],
      advice: running.doneChecksums.isEmpty
        ? "finish it with `mooring migrate up`, or give it up with `mooring migrate abandon`"
        : "finish it with `mooring migrate up`; steps that are not done may be corrected")
  }
}

extension Migration {
  /// Returns true if the migration is the next one of its line and everything that it requires has
  /// been applied.
  ///
  /// - Parameter reached: The last version of each line, by name.
  fileprivate func canFollow(_ reached: [String: Int]) -> Bool {
    version == (reached[line] ?? 0) + 1
      && requires.allSatisfy { (reached[$0.line] ?? 0) >= $0.version }
  }
}

extension [Migration] {
  /// Returns the index of the migration that comes next; nil if none can be applied.
  ///
  /// - Parameter reached: The last version of each line, by name.
  fileprivate func next(after reached: [String: Int], _ running: RunningMigration?) -> Int? {
    firstIndex { migration in
      migration.canFollow(reached)
        && (!migration.givesWay || running.map { $0.isOf(migration) } ?? false)
    } ?? firstIndex { $0.canFollow(reached) }
  }
}

extension Migration {
  /// True if a step leaves an attribute of another line as it is.
  fileprivate var givesWay: Bool {
    steps.contains {
      if case .addAttribute(_, _, ifMissing: true) = $0 { true } else { false }
    }
  }
}

extension RunningMigration {
  func isOf(_ migration: Migration) -> Bool {
    line == migration.line && version == migration.version
  }
}

extension Store {
  /// Returns the relation between this program's migrations and those that were applied to the
  /// store.
  public func migrationState() throws -> MigrationState {
    try MigrationState(lines: migrationLines, of: catalog())
  }

  /// Returns the state for lines that were read before: `migrationLines` reads them again.
  package func migrationState(lines: [MigrationLine]) throws -> MigrationState {
    MigrationState(lines: lines, of: try catalog())
  }

  /// The lines that this program was opened with.
  ///
  /// - Throws: The errors of `MigrationLine.load`, for files that are part of the program.
  public var migrationLines: [MigrationLine] { get throws { try migrations.all() } }

  /// Returns the migrations that were applied to this store, in the order of their application.
  public func migrationHistory() throws -> [AppliedMigration] {
    try catalog().history.sorted { $0.sequence < $1.sequence }
  }
}

extension MigrationState {
  init(lines: [MigrationLine], of catalog: Catalog) {
    self.init(lines: lines, history: catalog.history, running: catalog.running)
  }
}
