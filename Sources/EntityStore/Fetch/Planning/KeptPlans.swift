import EntityModel
import SystemSupport

/// Plans that hold for as long as the catalog does, by the requests they answer.
///
/// A program asks for the same lists again and again, and planning one takes longer than reading
/// its twenty records. Kept is what leaves nothing to be checked or sorted and owes nothing to what
/// the store holds: the ranges of an index that serves all of a request. A plan that was chosen by
/// costs is made anew each time.
final class KeptPlans: Sendable {
  struct Kept: @unchecked Sendable {
    // SAFETY: without conjuncts, sort keys and a filter, which only planning and filtering use and
    // which may belong to one thread, both are names, numbers and layouts that never change.
    let request: BoundRequest
    let plan: AccessPlan
  }

  /// Requests that are never the same twice are as good as none: a table full of those begins
  /// again.
  private static let capacity = 256
  /// The ranges of a long list take more memory than planning it again takes time.
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
