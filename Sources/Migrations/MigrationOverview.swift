public import EntityStore

/// The progress of a migration that is not complete, as the store has recorded it.
public struct MigrationUnderWay: Hashable, Sendable {
  public let migration: RunningMigration
  /// The number of the step that is next or in progress; 1 is the first.
  public let step: Int
  /// The number of steps of the migration; `nil` if its file is not known, and so is the text then.
  public let steps: Int?
  /// The description of the step.
  public let text: String?
  /// The stage of the step; `nil` if nothing of the step is done.
  public let stage: MigrationProgress.Stage?
  /// Records or keys of the stage that are done as of the last commit.
  public let done: Int64
}

extension Store {
  /// Returns the migration that is partly done, whether or not a process is running it; `nil` if
  /// there is none.
  ///
  /// - Throws: A storage failure.
  public func migrationUnderWay() throws -> MigrationUnderWay? {
    try read { transaction in
      guard let running = transaction.catalog.running else { return nil }
      let file = try migrationLines.first { $0.name == running.line }?.migrations
        .first { running.isOf($0) }
      let position = file.map { MigrationPosition($0, isDown: running.isDown, running: running) }
      let checkpoint =
        running.buildChecksum == nil ? nil : try LongStep.saved.load(in: transaction)?.position
      return MigrationUnderWay(
        migration: running, step: running.doneChecksums.count + 1, steps: position?.steps.count,
        text: position?.step?.description, stage: checkpoint?.stage.name,
        done: checkpoint?.done ?? 0)
    }
  }

  /// Returns the copies of the store that were made before destructive steps, the oldest first. A
  /// folder in the list may have been removed since.
  ///
  /// - Throws: A storage failure.
  public func migrationBackups() throws -> [MigrationBackup] {
    try read { try MigrationBackup.all(of: self, in: $0) }
  }

  /// Returns the process that is migrating the store in a folder, for example `process 4711,
  /// mooring migrate up`; `nil` if there is none. A process that was killed does not count.
  public static func migrationHolder(at folder: String) -> String? {
    MigrationLock.holder(in: folder)
  }
}
