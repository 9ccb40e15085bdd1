import EntityModel

/// A plan for an entity, which executions share instead of copying it.
final class PlannedFetch {
  let entity: EntityLayout
  let plan: AccessPlan
  /// The request, if the store's fetches are measured. It is here because a fetch with a cached
  /// plan need not copy it.
  let observed: FetchRequest?

  init(_ entity: EntityLayout, _ plan: AccessPlan, _ observed: FetchRequest?) {
    self.entity = entity
    self.plan = plan
    self.observed = observed
  }
}

extension PlannedFetch {
  /// Returns the plan of a request, from the cache if it is there, and prepares the transaction to
  /// read its entity.
  ///
  /// - Throws: As the planner.
  static func cached(
    _ request: FetchRequest, in transaction: ReadTransaction
  ) throws -> PlannedFetch {
    let form = request.form
    if let form, let known = transaction.catalog.plans[form.hash] as? ReusablePlan,
      known.isPlan(for: request)
    {
      guard let fetch = known.bound(to: form, of: request) else {
        return try planned(request, nil, in: transaction)
      }
      try transaction.prepareToRead(fetch.entity)
      return fetch
    }
    return try planned(request, form, in: transaction)
  }

  /// Plans a request.
  ///
  /// - Parameter form: The form under which the plan is cached; `nil` if it is not.
  private static func planned(
    _ request: FetchRequest, _ form: RequestForm?, in transaction: ReadTransaction
  ) throws -> PlannedFetch {
    let bound = try request.bound(in: transaction)
    let plan = try Planner.plan(bound, in: transaction)
    if let form {
      transaction.catalog.plans.insert(
        ReusablePlan(plan, bound, of: request, form), for: form.hash)
    }
    return PlannedFetch(bound.entity, plan, bound.observed)
  }
}

/// A plan that answers requests of one form without being computed again.
///
/// Cached are plans that leave nothing to check or sort and do not depend on the content of the
/// store: the ranges of an index that serves all of a request. A plan that was chosen by costs is
/// computed again each time.
final class ReusablePlan: CachedPlan, @unchecked Sendable {
  // SAFETY: without sort keys and a filter, which may belong to one thread, and without what only
  // an explanation needs, these consist of names, numbers, values and layouts that never change.
  private let request: FetchRequest
  private let constants: [Value]
  private let fetch: PlannedFetch
  private let access: IndexAccess
  private let template: RangeTemplate?

  /// The maximum number of ranges of a cached plan: a longer list takes more memory than its
  /// planning time is worth.
  private static let rangesMax = 64

  /// Returns `nil` for a plan that is computed again each time.
  init?(_ plan: AccessPlan, _ bound: BoundRequest, of request: FetchRequest, _ form: RequestForm) {
    guard plan.isReusable, case .index(let access) = plan.access,
      access.ranges.count <= ReusablePlan.rangesMax
    else { return nil }
    self.request = request
    constants = form.constants
    fetch = PlannedFetch(bound.entity, plan.withoutExplanation, bound.observed)
    self.access = access
    template = RangeTemplate(access, for: bound, form.constants)
  }

  /// Returns true if the plan is for requests of this form.
  func isPlan(for other: FetchRequest) -> Bool { request.hasForm(of: other) }

  /// Returns what the planner would return for a request of the plan's form.
  ///
  /// - Returns: `nil` if the values of its parameters need another plan.
  func bound(to form: RequestForm, of request: FetchRequest) -> PlannedFetch? {
    if form.constants == constants { return fetch }
    guard let ranges = template?.ranges(form.constants) else { return nil }
    var (access, plan) = (access, fetch.plan)
    access.ranges = ranges.ranges
    access.prefixCounts = ranges.prefixCounts
    plan.access = .index(access)
    return PlannedFetch(fetch.entity, plan, fetch.observed == nil ? nil : request)
  }
}
