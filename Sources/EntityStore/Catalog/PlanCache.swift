import SystemSupport

/// A plan for requests of one form, whose contents only the fetch knows.
protocol CachedPlan: AnyObject, Sendable {}

/// The plans that stay valid for as long as the catalog does, by the hashes of the requests' forms.
///
/// A program repeats the same requests with other constants, and planning one takes longer than
/// reading its twenty records. A plan is cached when its form comes for the second time: many
/// requests contain values that are no parameters, and are not repeated.
final class PlanCache: Sendable {
  private struct State {
    var plans: [Int: any CachedPlan] = [:]
    /// The hashes of forms that were planned once.
    var planned: Set<Int> = []
  }

  /// The maximum number of plans. A full cache is cleared: it is mostly full of requests that are
  /// no longer repeated.
  private static let capacity = 256

  private let state = Locked(State())

  subscript(_ hash: Int) -> (any CachedPlan)? { state.withLock { $0.plans[hash] } }

  func insert(_ plan: @autoclosure () -> (any CachedPlan)?, for hash: Int) {
    state.withLock { state in
      if state.planned.count >= PlanCache.capacity {
        state.planned.removeAll(keepingCapacity: true)
      }
      if state.planned.insert(hash).inserted { return }
      if state.plans.count >= PlanCache.capacity { state.plans.removeAll(keepingCapacity: true) }
      state.plans[hash] = plan()
    }
  }
}
