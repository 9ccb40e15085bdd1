public import EntityModel
import Synchronization
import SystemSupport

/// Measures the fetches of the stores that are opened with it (`Store.Options.fetchObserver`):
/// counts the uses of indexes, and passes on each fetch that takes longer than a threshold.
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
  private let now: @Sendable () -> ContinuousClock.Instant
  private let onSlow: @Sendable (ObservedFetch) -> Void
  /// The uses by the number of the index in the catalog, up to the largest number that was used.
  private let uses = Locked<[Int]>([])
  /// The numbers of indexes are never used again, so a store may have large ones.
  private static let indexNumberMax = 1 << 16

  /// - Parameter now: The clock of the durations.
  /// - Parameter onSlow: Called on the thread of the fetch, within its transaction. Must not block,
  ///   and must not use the store.
  public init(
    threshold: Duration = .milliseconds(50),
    now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock.now },
    onSlow: @escaping @Sendable (ObservedFetch) -> Void
  ) {
    nanoseconds = Atomic(Self.nanoseconds(of: threshold))
    self.now = now
    self.onSlow = onSlow
  }

  private static func nanoseconds(of duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return max(0, min(seconds, 1 << 32)) * 1_000_000_000 + attoseconds / 1_000_000_000
  }

  /// Returns the uses since the last call, by the number of the index in the catalog.
  package func takeUses() -> [Int: Int] {
    let taken = uses.withLock { uses in
      let taken = uses
      for number in uses.indices { uses[number] = 0 }
      return taken
    }
    return Dictionary(
      uniqueKeysWithValues: taken.enumerated().filter { $1 > 0 }.map { ($0, $1) })
  }

  // MARK: Of one fetch

  func begin() -> ContinuousClock.Instant { now() }

  func countUse(ofIndex number: Int) {
    guard number < Self.indexNumberMax else { return }
    uses.withLock { uses in
      while uses.count <= number { uses.append(0) }
      uses[number] += 1
    }
  }

  /// - Parameter fetch: Called with the duration of a slow fetch.
  func end(_ start: ContinuousClock.Instant, _ fetch: (Duration) -> ObservedFetch) {
    let duration = now() - start
    if duration >= threshold { onSlow(fetch(duration)) }
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

/// A fetch that is measured. A class, so that requests and executions hold one pointer.
final class FetchObservation: Sendable {
  let observer: FetchObserver
  let request: FetchRequest

  init(_ observer: FetchObserver, _ request: FetchRequest) {
    self.observer = observer
    self.request = request
  }
}

extension Catalog {
  /// Returns the observation of a fetch; `nil` if the store is opened without an observer.
  func observation(of request: FetchRequest) -> FetchObservation? {
    fetchObserver.map { FetchObservation($0, request) }
  }
}
