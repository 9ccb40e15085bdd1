public import Logging

/// The settings of `mooring worker`.
///
/// ``EffectiveSettings`` has the source of each value, and ``Setting/all`` the names and bounds.
/// Feeds are not settings: they are records of the store.
public struct WorkerSettings: Sendable, Equatable {
  /// The most jobs that run at once.
  public var concurrency = 16
  /// The threads for work that blocks: writes, imports, documents.
  public var blockingThreads = 4
  /// The queues that run fewer jobs at once than ``concurrency``, in the order of their names.
  public var queues: [QueueLimit] = []
  /// The time between two syncs of a feed that has no time of its own.
  public var syncEvery = Duration.seconds(15 * 60)
  /// The part of an interval that may be added at random, from 0 to 1, so that feeds spread out.
  public var jitter = 0.1
  /// The time between two requests to one host.
  public var hostSpacing = Duration.seconds(2)
  /// A web or mail address that publishers find in the requests; `nil` for none.
  public var contact: String?
  /// The time that running jobs have to end after the request to stop.
  public var drainTimeout = Duration.seconds(20)
  /// The lowest level that is logged.
  public var logLevel = Logger.Level.info
  public var logFormat = LogFormat.text
  /// The path of the Prometheus textfile; `nil` for none.
  public var metricsFile: String?
  /// The time between two writes of the textfile.
  public var metricsEvery = Duration.seconds(15)
  /// The duration from which on a fetch is sampled as slow.
  public var slowFetch = Duration.milliseconds(50)
  /// The bytes that stay free on the store's disk. With less the worker pauses.
  public var diskReserve: Int64 = 64 << 20
  /// The time for which finished jobs are kept.
  public var keepFinished = Duration.seconds(7 * 86_400)
  /// The time between two removals of finished jobs.
  public var pruneEvery = Duration.seconds(10 * 60)

  /// The defaults.
  public init() {}
}

/// The most jobs of one queue that run at once.
public struct QueueLimit: Sendable, Equatable {
  public let queue: String
  public let limit: Int
}

/// The format of log lines.
public enum LogFormat: String, CaseIterable, Sendable {
  /// Text for people and for the journal.
  case text
  /// One JSON object on each line.
  case json
}
