import EntityModel

/// A plan that answers a repeated request without being computed again.
///
/// Cached are plans that leave nothing to check or sort and do not depend on the content of the
/// store: the ranges of an index that serves all of a request. A plan that was chosen by costs is
/// computed again each time.
final class ReusablePlan: CachedPlan, @unchecked Sendable {
  // SAFETY: without conjuncts, sort keys and a filter, which only planning and filtering use and
  // which may belong to one thread, both consist of names, numbers and layouts that never change.
  let request: BoundRequest
  let plan: AccessPlan

  /// The maximum number of ranges of a cached plan: a longer list takes more memory than its
  /// planning time is worth.
  private static let rangesMax = 64

  /// Returns `nil` for a plan that is computed again each time.
  fileprivate init?(_ plan: AccessPlan, _ request: BoundRequest) {
    guard plan.isReusable, case .index(let access) = plan.access,
      access.ranges.count <= ReusablePlan.rangesMax
    else { return nil }
    self.request = request.planned
    self.plan = plan
  }
}

extension PlanCache {
  func plan(for key: Key) -> ReusablePlan? { self[key] as? ReusablePlan }

  /// Caches a plan if it is reusable.
  func insert(_ plan: AccessPlan, _ bound: BoundRequest, for key: Key) {
    insert(ReusablePlan(plan, bound), for: key)
  }
}
