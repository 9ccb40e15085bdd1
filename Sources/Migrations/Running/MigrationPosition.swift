import EntityStore

/// A position in a migration: the number of its steps that are done.
struct MigrationPosition {
  let migration: Migration
  /// True if the migration is being undone.
  let isDown: Bool
  var done = 0
  /// The checksum up to the step that has begun to build something.
  var buildChecksum: String?
  var startedAt: Double?
  var backup: String?

  init(_ migration: Migration, isDown: Bool = false, running: RunningMigration? = nil) {
    self.migration = migration
    self.isDown = isDown
    guard let running, running.isOf(migration), running.isDown == isDown else { return }
    done = running.doneChecksums.count
    buildChecksum = running.buildChecksum
    startedAt = running.startedAt
    backup = running.backup
  }

  var steps: [MigrationStep] { isDown ? migration.down : migration.steps }

  /// The next step; `nil` at the end.
  var step: MigrationStep? { done < steps.count ? steps[done] : nil }

  var remainder: ArraySlice<MigrationStep> { steps[min(done, steps.count)...] }

  /// True if the next step has begun to build something.
  var isBuilding: Bool { buildChecksum != nil }

  /// The checksum of all steps up to and including the next one.
  var stepChecksum: String? { done < checksums.count ? checksums[done] : nil }

  /// The author under which its steps write.
  var author: String { "migration \(migration.line) \(migration.name)" }

  private var checksums: [String] { isDown ? migration.downChecksums : migration.stepChecksums }

  func running(since now: Double, program: String?, lastError: String? = nil) -> RunningMigration {
    RunningMigration(
      line: migration.line, version: migration.version, name: migration.name, isDown: isDown,
      doneChecksums: Array(checksums.prefix(done)), buildChecksum: buildChecksum,
      startedAt: startedAt ?? now, older: migration.older, program: program, backup: backup,
      lastError: lastError)
  }
}
