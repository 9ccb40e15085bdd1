public import Logging

/// What an operator may change about `mooring worker`.
///
/// A plain value: where each part comes from is told by ``EffectiveSettings``, and what each means,
/// its bounds and its names by ``Setting/all``. The feeds are not here; they live in the store.
public struct WorkerSettings: Sendable, Equatable {
  /// Jobs that run at once.
  public var concurrency = 16
  /// Threads for work that blocks: writes, imports, documents.
  public var blockingThreads = 4
  /// Queues that run fewer jobs at once than ``concurrency``, in the order of their names.
  public var queues: [QueueLimit] = []
  /// The time between two syncs of a feed that has no time of its own.
  public var syncEvery = Duration.seconds(15 * 60)
  /// How much of an interval may be added at random, from 0 to 1, so that feeds spread out.
  public var jitter = 0.1
  /// The time between two requests to one host.
  public var hostSpacing = Duration.seconds(2)
  /// A web or mail address that publishers find in the requests, or nil for none.
  public var contact: String?
  /// How long running jobs may go on after the order to stop.
  public var drainTimeout = Duration.seconds(20)
  /// What is logged: this level and those above it.
  public var logLevel = Logger.Level.info
  public var logFormat = LogFormat.text
  /// The Prometheus textfile, or nil for none.
  public var metricsFile: String?
  /// The time between two writes of the textfile.
  public var metricsEvery = Duration.seconds(15)
  /// Bytes kept free on the store's disk: below, the worker pauses.
  public var diskReserve: Int64 = 64 << 20
  /// How long finished jobs are kept.
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

  public init(queue: String, limit: Int) {
    self.queue = queue
    self.limit = limit
  }
}

/// How log lines are written.
public enum LogFormat: String, CaseIterable, Sendable {
  /// For people, and for the journal.
  case text
  /// One JSON object on each line.
  case json
}
