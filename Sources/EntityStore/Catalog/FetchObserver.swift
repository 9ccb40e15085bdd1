public import EntityModel
import Glibc
import Synchronization

/// Measures the fetches of the stores that are opened with it (`Store.Options.fetchObserver`), and
/// gets those that take longer than a threshold. The uses of their indexes are counted as well.
///
/// The time of a fetch does not contain its planning, but contains the closure that gets its
/// records. Fetches of transactions that write are measured, too.
public final class FetchObserver: Sendable {
  /// The duration from which on a fetch is slow.
  public var threshold: Duration {
    get { .nanoseconds(nanoseconds.load(ordering: .relaxed)) }
    set { nanoseconds.store(Self.nanoseconds(of: newValue), ordering: .relaxed) }
  }

  private let nanoseconds: Atomic<Int64>
  private let clock: (@Sendable () -> Int64)?
  let onSlow: @Sendable (ObservedFetch) -> Void

  /// - Parameter clock: Returns the nanoseconds of the clock of the durations; `nil` for that of
  ///   the system, which is read at its coarse resolution (a tick, at most 10 ms, for a fifth of
  ///   the cost) as long as the threshold is 50 ms or more.
  /// - Parameter onSlow: Called on the thread of the fetch, within its transaction. Must not block,
  ///   and must not use the store.
  public init(
    threshold: Duration = .milliseconds(50),
    clock: (@Sendable () -> Int64)? = nil,
    onSlow: @escaping @Sendable (ObservedFetch) -> Void
  ) {
    nanoseconds = Atomic(Self.nanoseconds(of: threshold))
    self.clock = clock
    self.onSlow = onSlow
  }

  private static let coarseMin: Int64 = 50_000_000

  /// Returns the nanoseconds of the clock of the durations.
  func now() -> Int64 {
    if let clock { return clock() }
    let isCoarse = nanoseconds.load(ordering: .relaxed) >= Self.coarseMin
    var time = timespec()
    clock_gettime(isCoarse ? CLOCK_MONOTONIC_COARSE : CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  private static func nanoseconds(of duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return max(0, min(seconds, 1 << 32)) * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  /// Returns the time since the start of a fetch; `nil` for one that was not slow.
  func slowDuration(since start: Int64) -> Duration? {
    let duration = now() - start
    return duration >= nanoseconds.load(ordering: .relaxed) ? .nanoseconds(duration) : nil
  }
}

/// A fetch that took longer than the threshold of its observer.
public struct ObservedFetch: Sendable {
  public let request: FetchRequest
  /// The names of its kinds (`PlanKind`) and of its indexes, which decide its cost.
  public let access: String
  /// The text of the plan, with what was read, without the reasons against other indexes.
  public let plan: String
  public let duration: Duration
}
