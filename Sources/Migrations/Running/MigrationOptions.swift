import EntityStore
import StrictYAML

/// How migrations are run.
public struct MigrationOptions: Sendable {
  /// Whether steps may run that lose data and say so.
  public var allowsDestructive = false
  /// How far each line goes, by name; a line that is not named goes to its end.
  public var targets: [String: Int] = [:]
  /// How long to wait for another run before it fails and says who it is.
  public var wait = Duration.zero
  /// Whether a destructive plan first copies the store beside itself.
  public var backsUp = true
  /// Records up to which a step is done in one transaction, if they are small.
  package var recordsAtOnceMax = Limits.recordsMigratedAtOnceMax
  /// How long a chunk of a longer step lasts.
  package var chunkDuration = Limits.chunkDuration
  /// Bytes of keys that are sorted in memory.
  package var sortMemory = KeyRunWriter.memoryMaxDefault
  /// Asked between two chunks: `true` ends the run there, and a later one goes on.
  public var isCancelled: @Sendable () -> Bool = { false }
  /// Called after each commit, on the thread that runs the migrations.
  public var progress: @Sendable (MigrationProgress) -> Void = { _ in }

  public init() {}
}

/// How far a run has come.
public struct MigrationProgress: Hashable, Sendable {
  public enum Stage: String, Hashable, Sendable {
    /// The store is copied before a destructive step.
    case backup
    /// Records are read, and written where the step changes them.
    case records
    /// Keys of an index are read and sorted.
    case sorting
    /// Keys of an index are written.
    case writing
    /// What others have changed meanwhile is taken over.
    case settling
  }

  public let line: String
  public let migration: String
  /// Of the migration; 1 is the first.
  public let step: Int
  public let steps: Int
  /// The step in words.
  public let text: String
  public let stage: Stage
  /// Records or keys of the stage.
  public let done: Int64
  /// As far as it is known beforehand; 0 if it is not.
  public let total: Int64
  /// The longest time so far for which another writer had to wait.
  public let longestWait: Duration
}
