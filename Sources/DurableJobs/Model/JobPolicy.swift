/// The defaults for the jobs of one kind. A `JobRequest` may change them for one job.
///
/// All but the backoff are stored with the job, for runners in other processes. The backoff is that
/// of the handler that runs the job.
public struct JobPolicy: Sendable {
  public var queue: QueueName
  /// Jobs of a higher priority are claimed first; of equal priority, the older ones.
  public var priority: Int
  /// The number of attempts after which a job that fails is discarded.
  public var attemptsMax: Int
  /// The number of times that the job's runner may die before the job is poisoned. A death counts
  /// only if the job has stored no checkpoint since its claim; an orderly stop never counts.
  ///
  /// A runner runs at most one job at a time whose runners have died twice, so a job that kills its
  /// process costs other jobs at most two deaths. With a bound below 2, a job may be poisoned
  /// because of another one.
  public var rescuesMax: Int
  /// The time limit of one attempt; `nil` for none.
  public var timeout: Duration?
  public var backoff: Backoff
  public var uniqueness: JobUniqueness
  /// The time for which a job is kept after its end.
  public var retention: Duration
  /// True for jobs about files of the machine on which they are enqueued: in a store that several
  /// machines have, only that one runs them.
  public var isBoundToMachine = false

  public init(
    queue: QueueName = .default, priority: Int = 0, attemptsMax: Int = 20, rescuesMax: Int = 3,
    timeout: Duration? = nil, backoff: Backoff = Backoff(),
    uniqueness: JobUniqueness = .untilFinished, retention: Duration = .seconds(7 * 86_400),
    isBoundToMachine: Bool = false
  ) {
    self.queue = queue
    self.priority = priority
    self.attemptsMax = attemptsMax
    self.rescuesMax = rescuesMax
    self.timeout = timeout
    self.backoff = backoff
    self.uniqueness = uniqueness
    self.retention = retention
    self.isBoundToMachine = isBoundToMachine
  }
}

/// The time for which a job with a unique key prevents another one with the same key.
public enum JobUniqueness: String, Codable, Sendable {
  /// While the job waits, so that one more can be enqueued while it runs. When it waits again, for
  /// another attempt or because its runner has stopped, it takes the key again if no other job has
  /// it; otherwise it waits without the key. At most one job waits with the key at any time.
  case untilStarted
  case untilFinished
  /// Until the job is removed at the end of its retention.
  case untilRemoved
}

/// The wait of a failed job before its next attempt: a random part of a bound that doubles with
/// each failure ("full jitter": M. Brooker, Exponential Backoff And Jitter, AWS 2015).
public struct Backoff: Hashable, Sendable {
  public var base: Duration
  public var cap: Duration

  public init(base: Duration = .seconds(2), cap: Duration = .seconds(3_600)) {
    self.base = base
    self.cap = cap
  }

  /// The longest wait after this number of failures.
  public func bound(after failures: Int) -> Duration {
    guard base < cap else { return cap }
    let doublings = min(max(0, failures - 1), 62)
    var bound = base
    for _ in 0..<doublings {
      bound *= 2
      if bound >= cap { return cap }
    }
    return bound
  }

  /// The wait after this number of failures.
  ///
  /// - Parameter random: A number in 0 ..< 1.
  public func wait(after failures: Int, random: Double) -> Duration {
    bound(after: failures) * random
  }
}
