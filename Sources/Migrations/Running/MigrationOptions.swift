import EntityStore

/// Options for running migrations.
public struct MigrationOptions: Sendable {
  /// True if steps may run that lose data and have `destructive: true`.
  public var allowsDestructive = false
  /// The last version to apply of each line, by name. A line that is not named is applied to its
  /// end.
  public var targets: [String: Int] = [:]
  /// The longest time to wait for another run. After it the run fails with an error that names the
  /// other.
  public var wait = Duration.zero
  /// True if the store is copied to a folder next to it before a destructive plan runs.
  public var backsUp = true
  /// The greatest number of records for which a step is done in one transaction, if they are small.
  package var recordsAtOnceMax = StoreLimits.recordsMigratedAtOnceMax
  /// The duration of one chunk of a longer step.
  package var chunkDuration = StoreLimits.chunkDuration
  /// False to leave the records of a store of an earlier version without seals, as such a version
  /// would; for tests.
  package var sealsRecords = true
  /// The bytes of memory for sorting keys.
  package var sortMemory = KeyRunWriter.memoryMaxDefault
  /// Called between two chunks. `true` ends the run there; a later run continues.
  public var isCancelled: @Sendable () -> Bool = { false }
  /// Called after each commit, on the thread that runs the migrations.
  public var progress: @Sendable (MigrationProgress) -> Void = { _ in }

  public init() {}
}

/// The progress of a run.
public struct MigrationProgress: Hashable, Sendable {
  /// The stages of a run.
  public enum Stage: String, Hashable, Sendable {
    /// The store is copied before a destructive step.
    case backup
    /// Records are read, and written where the step changes them.
    case records
    /// Keys of an index are read and sorted.
    case sorting
    /// Keys of an index are written.
    case writing
    /// Concurrent changes are taken over.
    case catchingUp = "settling"
  }

  public let line: String
  public let migration: String
  /// The number of the step within the migration; 1 is the first.
  public let step: Int
  public let steps: Int
  /// The description of the step.
  public let text: String
  public let stage: Stage
  /// Records or keys of the stage that are done.
  public let done: Int64
  /// The expected total of the stage, as far as it is known beforehand; 0 if it is not.
  public let total: Int64
  /// The longest time so far for which another writer had to wait.
  public let longestWait: Duration
}
