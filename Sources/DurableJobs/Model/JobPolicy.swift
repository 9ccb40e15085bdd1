/// What holds for all jobs of a kind, unless one is enqueued with something else.
///
/// What another process must know to do right by a job is stored with it: how often it may be tried,
/// how long it may take, how long it is kept. The backoff is the handler's: who runs the job decides.
public struct JobPolicy: Sendable {
  public var queue: QueueName
  /// The larger goes first; among equals the older.
  public var priority: Int
  /// Attempts that may fail before the job is discarded.
  public var attemptsMax: Int
  /// How often the job's runner may die before the job counts as poison: only when it has reached no
  /// checkpoint since its claim. An orderly stop never counts.
  ///
  /// Of jobs whose runners have died with them twice, a runner runs one at a time: so one that kills its
  /// process takes no other beyond two. With a bound of less than 2, a job may be poisoned by another's
  /// fault.
  public var rescuesMax: Int
  /// Of one attempt. By default there is none.
  public var timeout: Duration?
  public var backoff: Backoff
  public var uniqueness: JobUniqueness
  /// How long a job is kept after its end.
  public var retention: Duration

  public init(
    queue: QueueName = .default, priority: Int = 0, attemptsMax: Int = 20, rescuesMax: Int = 3,
    timeout: Duration? = nil, backoff: Backoff = Backoff(),
    uniqueness: JobUniqueness = .untilFinished, retention: Duration = .seconds(7 * 86_400)
  ) {
    self.queue = queue
    self.priority = priority
    self.attemptsMax = attemptsMax
    self.rescuesMax = rescuesMax
    self.timeout = timeout
    self.backoff = backoff
    self.uniqueness = uniqueness
    self.retention = retention
  }
}

/// How long a job with a unique key keeps others with the same key out.
public enum JobUniqueness: String, Codable, Sendable {
  /// While it waits, so that one more can be enqueued while it runs. When it waits again, for another
  /// attempt or as its runner has stopped, it takes the key again if no other job has it by then; else it
  /// waits without it. So however often its kind fails, at most one job waits with the key.
  case untilStarted
  case untilFinished
  /// Until it is removed at the end of its retention.
  case untilRemoved
}

/// How long a failed job waits for its next attempt: a random part of a bound that doubles with each
/// failure ("full jitter": M. Brooker, Exponential Backoff And Jitter, AWS 2015).
public struct Backoff: Hashable, Sendable {
  public var base: Duration
  public var cap: Duration

  public init(base: Duration = .seconds(2), cap: Duration = .seconds(3_600)) {
    self.base = base
    self.cap = cap
  }

  /// The longest that attempt number `failures` may wait.
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

  /// - Parameter random: In 0 ..< 1.
  public func wait(after failures: Int, random: Double) -> Duration {
    bound(after: failures) * random
  }
}
