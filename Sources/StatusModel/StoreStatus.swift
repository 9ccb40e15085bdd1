public import Foundation

/// The state of a store and of what works on it, at one moment: what `mooring status`, `mooring
/// top`, `mooring serve` and `mooring report` show. They compute nothing besides it.
///
/// All of it is of one snapshot, except what is not in the store: whether processes live, the size
/// of the disk, and the files of backups and checks. Encoded as JSON, its names are stable; what is
/// nil is left out. Texts of feeds and errors are as they were received: an output must replace
/// hidden characters.
public struct StoreStatus: Codable, Sendable {
  /// The time of the snapshot.
  public let at: Date
  /// The folder of the store.
  public let folder: String
  /// The number of the last transaction in the snapshot.
  public let transaction: Int
  /// The problems, the worst first. Notes are among them, but need no attention.
  public internal(set) var problems: [Problem] = []
  public let feeds: FeedsStatus
  /// The last runs of feeds, the newest first.
  public let runs: [RunStatus]
  /// Nil for a store without jobs.
  public let jobs: JobsStatus?
  public let workers: [WorkerStatus]
  public let file: FileStatus
  public let history: HistoryStatus
  public let migrations: MigrationsStatus
  /// The backups that are known, the newest first.
  public let backups: [BackupStatus]
  /// The last check of this store; nil if none is known.
  public let check: CheckStatus?
  /// The figures over time; empty if no worker has recorded any.
  public let trend: TrendStatus
  /// The slow fetches and the indexes that can be dropped.
  public let fetches: FetchesStatus
  /// Nil for a store that is in no hub.
  public let hub: HubStatus?
  /// The last actions of the page, the newest first.
  public let actions: [ActionStatus]

  /// True if something needs attention.
  public var needsAttention: Bool { problems.contains { $0.severity != .note } }
}

/// Something that needs attention.
public struct Problem: Codable, Sendable, Hashable {
  /// The severity, the worst first.
  public enum Severity: String, Codable, Sendable, CaseIterable {
    /// Something has stopped, or will soon.
    case critical
    /// Something fails; the rest works.
    case warning
    /// Worth knowing; nothing is wrong.
    case note
  }

  /// The section of the status that has the details.
  public enum Section: String, Codable, Sendable, CaseIterable {
    case feeds, jobs, workers, store, history, migrations, backups, hub
  }

  public let severity: Severity
  public let section: Section
  /// The problem in one line.
  public let summary: String
  /// The time of its beginning; nil if that is not known.
  public let since: Date?
  /// The remedy: a sentence, or a command between backquotes.
  public let advice: String
}
