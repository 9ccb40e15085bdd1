import EntityModel
import SystemSupport

/// A plan for a fetch request, whose contents only the fetch knows.
protocol CachedPlan: AnyObject, Sendable {}

/// The plans that stay valid for as long as the catalog does, by the requests they answer.
///
/// A program repeats the same requests, and planning one takes longer than reading its twenty
/// records.
final class PlanCache: Sendable {
  /// The maximum number of plans. A full cache is cleared: it is mostly full of requests that are
  /// never repeated.
  private static let capacity = 256

  private let plans = Locked<[FetchRequest: any CachedPlan]>([:])

  subscript(_ request: FetchRequest) -> (any CachedPlan)? { plans.withLock { $0[request] } }

  func insert(_ plan: any CachedPlan, for request: FetchRequest) {
    plans.withLock { plans in
      if plans.count >= PlanCache.capacity { plans.removeAll(keepingCapacity: true) }
      plans[request] = plan
    }
  }
}
