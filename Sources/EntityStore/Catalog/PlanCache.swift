import EntityModel
import SystemSupport

/// The plans that stay valid for as long as the catalog does, by the requests they answer.
///
/// A program repeats the same requests, and planning one takes longer than reading its twenty
/// records. Cached are plans that leave nothing to check or sort and do not depend on the content
/// of the store: the ranges of an index that serves all of a request. A plan that was chosen by
/// costs is computed again each time.
final class KeptPlans: Sendable {
  struct Kept: @unchecked Sendable {
    // SAFETY: without conjuncts, sort keys and a filter, which only planning and filtering use and
    // which may belong to one thread, both consist of names, numbers and layouts that never change.
    let request: BoundRequest
    let plan: AccessPlan
  }

  /// The maximum number of plans. A full table is cleared: it is mostly full of requests that are
  /// never repeated.
  private static let capacity = 256
  /// The maximum number of ranges of a cached plan: a longer list takes more memory than its
  /// planning time is worth.
  private static let rangesMax = 64
  private let plans = Locked<[FetchRequest: Kept]>([:])

  func plan(for request: FetchRequest) -> Kept? { plans.withLock { $0[request] } }

  func keep(_ plan: AccessPlan, _ bound: BoundRequest, for request: FetchRequest) {
    guard plan.isSettled, case .index(let access) = plan.access,
      access.ranges.count <= KeptPlans.rangesMax
    else { return }
    let kept = Kept(request: bound.planned, plan: plan)
    plans.withLock { plans in
      if plans.count >= KeptPlans.capacity { plans.removeAll(keepingCapacity: true) }
      plans[request] = kept
    }
  }
}
