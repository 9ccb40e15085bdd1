/// How the migrations that a program knows relate to those that a store has had.
public struct MigrationState: Sendable {
  /// What is still to do, in an order that satisfies `requires`.
  public let pending: [Migration]
  /// Applied by a newer program: in a line that this program knows, but beyond its end.
  public let unknown: [AppliedMigration]
  /// Applied, and its file has been changed since.
  public let changed: [Migration]
  /// Pending, and something it requires is neither applied nor known.
  public let unmet: [Migration]

  init(lines: [MigrationLine], history: [AppliedMigration]) {
    var applied: [String: [AppliedMigration]] = [:]
    for entry in history { applied[entry.line, default: []].append(entry) }
    var queue: [Migration] = []
    var unknown: [AppliedMigration] = []
    var changed: [Migration] = []
    for line in lines {
      let done = applied[line.name] ?? []
      unknown += done.dropFirst(line.migrations.count)
      for (migration, entry) in zip(line.migrations, done)
      where migration.checksum != entry.checksum {
        changed.append(migration)
      }
      queue += line.migrations.dropFirst(done.count)
    }
    self.unknown = unknown
    self.changed = changed
    var reached = applied.mapValues(\.count)
    var ordered: [Migration] = []
    var progress = true
    while progress {
      progress = false
      for (index, migration) in queue.enumerated()
      where migration.version == (reached[migration.line] ?? 0) + 1
        && migration.requires.allSatisfy({ (reached[$0.line] ?? 0) >= $0.version })
      {
        ordered.append(migration)
        reached[migration.line] = migration.version
        queue.remove(at: index)
        progress = true
        break
      }
    }
    pending = ordered
    unmet = queue
  }

  /// - Throws: `migration` if a file was changed or a requirement cannot be met.
  func checkApplicable() throws(StoreError) {
    if let migration = changed.first {
      throw StoreError(
        .migration, "a migration was changed after it was applied",
        [("line", migration.line), ("file", migration.name)],
        advice: "put the file back as it was and write the change as a new migration")
    }
    if let migration = unmet.first {
      let missing = migration.requires.map { "\($0.line)@\($0.version)" }
      throw StoreError(
        .migration, "a migration requires another one that is not there",
        [("file", migration.name), ("requires", missing.joined(separator: ", "))],
        advice: "add the line with --migrations")
    }
  }

  /// - Throws: `newerSchema`, `needsMigration`, or as `checkApplicable`.
  func checkWritable() throws(StoreError) {
    if let newer = unknown.first {
      throw StoreError(
        .newerSchema, "the store has been migrated by a newer version of this program",
        [("line", newer.line), ("migration", newer.name)],
        advice: "install the newer version; reading still works")
    }
    try checkApplicable()
    if let next = pending.first {
      throw StoreError(
        .needsMigration, "the store is behind its migrations",
        [("next", "\(next.line) \(next.name)"), ("pending", String(pending.count))],
        advice: "run `mooring migrate plan`")
    }
  }
}

extension Store {
  /// How this program's migrations relate to the store's history.
  public func migrationState() throws -> MigrationState {
    MigrationState(lines: lines, history: try catalog().history)
  }

  /// The lines that this program was opened with.
  public var migrationLines: [MigrationLine] { lines }

  /// What has been applied to this store, in the order in which it was.
  public func migrationHistory() throws -> [AppliedMigration] {
    try catalog().history.sorted { $0.sequence < $1.sequence }
  }
}
