public import EntityStore
import Foundation

/// How far a migration has come that is not complete, by what the store itself has noted.
public struct MigrationUnderWay: Hashable, Sendable {
  public let migration: RunningMigration
  /// The step to be done next, or being done; 1 is the first.
  public let step: Int
  /// Of the migration; `nil` if its file is not here, and so for the text.
  public let steps: Int?
  /// The step in words.
  public let text: String?
  /// `nil` if nothing of the step is done.
  public let stage: MigrationProgress.Stage?
  /// Records or keys of the stage, as of the last commit.
  public let done: Int64
}

extension Store {
  /// The migration of which something is done, whether somebody is at it or not; `nil` if there is
  /// none.
  ///
  /// - Throws: `storage`.
  public func migrationUnderWay() throws -> MigrationUnderWay? {
    try read { transaction in
      guard let running = transaction.catalog.running else { return nil }
      let file = try migrationLines.first { $0.name == running.line }?.migrations
        .first { running.isOf($0) }
      let position = file.map { MigrationPosition($0, isDown: running.isDown, running: running) }
      let frontier =
        running.buildChecksum == nil ? nil : try LongStep.write.load(in: transaction)?.frontier
      return MigrationUnderWay(
        migration: running, step: running.doneChecksums.count + 1, steps: position?.steps.count,
        text: position?.step?.description, stage: frontier?.stage.name, done: frontier?.done ?? 0)
    }
  }

  /// The copies of the store that were made before destructive steps, the oldest first. Whether the
  /// folders are still there is not looked at.
  ///
  /// - Throws: `storage`.
  public func migrationBackups() throws -> [MigrationBackup] {
    try read { try MigrationBackup.all(of: self, in: $0.transaction) }
  }

  /// Who migrates the store in a folder at this moment, as `process 4711, mooring migrate up`;
  /// `nil` if nobody does. A process that was killed does not.
  public static func migrationHolder(at folder: String) -> String? {
    MigrationLock.holder(in: folder)
  }
}

extension MigrationFrontier.Stage {
  fileprivate var name: MigrationProgress.Stage {
    switch self {
    case .records: .records
    case .sorting: .sorting
    case .appending: .writing
    case .settling: .settling
    }
  }
}
