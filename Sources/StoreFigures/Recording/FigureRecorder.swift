public import DurableJobs
import EntityModel
public import EntityStore
public import FeedSync
public import Foundation
import SystemSupport

/// Collects the figures of a process in memory, and writes them to a store.
///
/// Any thread may use it. What is recorded costs no write until ``flush(to:)``; a process that is
/// killed loses what it has recorded since then.
public final class FigureRecorder: Sendable {
  /// The result of a flush.
  public enum Flush: Sendable, Equatable {
    /// Nothing has happened since the last one, so nothing was written.
    case nothing
    /// The figures were written.
    ///
    /// - Parameter feedsLeftOut: The number of feeds that were not recorded, because the store has
    ///   figures of the most feeds that are kept.
    case written(feedsLeftOut: Int)
    /// The store has no entities for figures, and what was recorded is dropped. `mooring migrate
    /// up` creates them.
    case absent
  }

  private struct State {
    var pending = PendingFigures()
    var gauges = FigureGauges()
    /// The gauges that were written last.
    var writtenGauges = FigureGauges()
    /// True if the store has a record for each index.
    var knowsIndexes = false
  }

  /// Measures fetches for this recorder. A store that is opened with it (`Store.Options`) has its
  /// slow fetches and the uses of its indexes recorded, but for those of system entities.
  public let fetchObserver: FetchObserver
  private let now: @Sendable () -> Date
  private let state: Locked<State>

  /// - Parameter now: The clock of the slots: that of the store.
  /// - Parameter fetchClock: Returns the nanoseconds of the clock of the durations of fetches;
  ///   `nil` for that of the system.
  public init(
    now: @escaping @Sendable () -> Date = { Date() },
    fetchClock: (@Sendable () -> Int64)? = nil
  ) {
    let state = Locked(State())
    self.now = now
    self.state = state
    fetchObserver = FetchObserver(clock: fetchClock) { fetch in
      // Those of the system are made by the worker itself, so that they would keep it from idling.
      if fetch.request.entityName.hasPrefix("_") { return }
      let slow = SlowFetch(fetch, at: now())
      state.withLock { $0.pending.add(slow) }
    }
  }

  /// Records a run of a feed, also one without news.
  public func record(run report: SyncReport, feed: Int64, startedAt: Date, seconds: Double) {
    let time = now()
    let run = FeedFigures(report, of: feed, startedAt: startedAt, endedAt: time)
    state.withLock { state in
      state.pending.count(report, seconds: seconds, at: time)
      state.pending.add(run)
    }
  }

  /// Records an attempt of a job.
  public func record(attempt: EndedAttempt) {
    let time = now()
    state.withLock { $0.pending.count(attempt, at: time) }
  }

  /// Sets the gauges that have a value here. They are written with the next counts, or by
  /// themselves if those of the feeds or the number of the jobs differ from those written last.
  public func set(_ gauges: FigureGauges) { state.withLock { $0.gauges.update(gauges) } }

  /// Adds everything that was recorded since the last flush to the store, in one transaction.
  ///
  /// Figures of several processes and machines are added up.
  ///
  /// - Throws: As `Store.write`. Nothing was written then, and the next flush writes it.
  @discardableResult
  public func flush(to store: Store) async throws -> Flush {
    guard try store.read({ $0.hasFigures }) else {
      state.withLock { $0.pending = PendingFigures() }
      return .absent
    }
    let countsUses = store.options.fetchObserver === fetchObserver
    let uses = try countsUses ? store.read { $0.takeIndexUses() } : [:]
    let (pending, gauges, knowsIndexes) = take(uses)
    let registers = try countsUses && !knowsIndexes && store.read { try $0.hasUnknownIndexes }
    if pending.isEmpty, !registers { return .nothing }
    do {
      let feedsLeftOut = try await store.write(author: "figures") { transaction in
        var writer = FigureWriter(transaction)
        return try writer.write(pending, registersIndexes: countsUses)
      }
      state.withLock { state in
        state.writtenGauges = gauges
        state.knowsIndexes = countsUses
      }
      return .written(feedsLeftOut: feedsLeftOut)
    } catch {
      state.withLock { state in
        var all = pending
        all.add(state.pending)
        state.pending = all
      }
      throw error
    }
  }

  private func take(_ uses: [Int: Int]) -> (PendingFigures, FigureGauges, knowsIndexes: Bool) {
    let time = now()
    return state.withLock { state in
      state.pending.add(uses, at: time)
      let isNew = state.gauges.ofWork != state.writtenGauges.ofWork
      if isNew || !state.pending.isEmpty { state.pending.set(state.gauges, at: time, isNew: isNew) }
      defer { state.pending = PendingFigures() }
      return (state.pending, state.gauges, state.knowsIndexes)
    }
  }
}
