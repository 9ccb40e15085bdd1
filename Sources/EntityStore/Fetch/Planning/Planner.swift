import EntityModel
import LMDB

/// Chooses the plan by which the records of a request are found.
///
/// An index can serve leading parts with single values (one or several: `IN`, `OR`), then ranges of
/// the next part. It gives the order of the parts after the single values, by one range after the
/// other or by merging them. A leading part that the predicate does not name is replaced by the
/// values it has in the index, if they are few. An `OR` of different attributes may use one index
/// for each side. An index that leaves nothing to check or to sort is taken; otherwise the costs
/// decide, which are estimated from the number of entries and from a sample of the records.
struct Planner {
  private let request: BoundRequest
  private let entity: EntityLayout
  private let transaction: ReadTransaction
  private let known: ConjunctSets

  /// The maximum number of sides of an `OR` for which an index is sought for each: every side takes
  /// planning time.
  private static let unionSidesMax = 256

  /// Plans a request.
  ///
  /// - Throws: `requiresIndex`, `damaged`, a storage failure.
  static func plan(_ request: BoundRequest, in transaction: ReadTransaction) throws -> AccessPlan {
    let planner = Planner(request, transaction)
    let plan = try planner.plan()
    try planner.checkRequirement(plan)
    return plan
  }

  private init(_ request: BoundRequest, _ transaction: ReadTransaction) {
    self.request = request
    entity = request.entity
    self.transaction = transaction
    known = ConjunctSets(request.conjuncts.map(\.program))
  }

  private func plan() throws -> AccessPlan {
    if request.conjuncts.contains(where: { $0.program.isNever }) {
      return AccessPlan(access: .nothing)
    }
    if let plan = identities() { return plan }
    var candidates: [IndexCandidate] = []
    var rejected: [AccessPlan.Rejection] = []
    for index in entity.indexes {
      do throws(IndexCandidate.Rejection) {
        guard let candidate = try IndexCandidate.make(index, for: request, known) else {
          return AccessPlan(access: .nothing)
        }
        candidates.append(candidate)
      } catch {
        rejected.append(.init(index: index, reason: .unfit(error.reason)))
      }
    }
    var plan = try choose(candidates, &rejected)
    // One reason for each index; one that was rejected in one way may have been taken in another.
    var reported = Set(plan.access.indexes.map(\.index.number))
    plan.rejected = rejected.filter { reported.insert($0.index.number).inserted }
    return plan
  }

  /// Returns the plan for `SELF == …` and `SELF IN …`, which need no index.
  private func identities() -> AccessPlan? {
    for (number, conjunct) in request.conjuncts.enumerated() {
      guard case .identity(let ids) = conjunct.program else { continue }
      return plan(
        .identifiers(ids.sorted()), covering: [number], servesOrder: !request.needsSort,
        isByIdentity: true, used: [number])
    }
    return nil
  }

  // MARK: The choice

  private func choose(
    _ candidates: [IndexCandidate], _ rejected: inout [AccessPlan.Rejection]
  ) throws -> AccessPlan {
    let perfect = candidates.filter { $0.isPerfect(for: request) }
    if let best = perfect.max(by: { Planner.serves($0, less: $1) }) {
      for other in candidates where other.index.number != best.index.number {
        rejected.append(
          .init(index: other.index, reason: .unfit("another index serves all of it")))
      }
      var plan = plan(best)
      plan.isCertain = true
      return plan
    }
    return try cheapest(candidates, &rejected)
  }

  private static func serves(_ a: IndexCandidate, less b: IndexCandidate) -> Bool {
    if a.usedParts != b.usedParts { return a.usedParts < b.usedParts }
    if a.isIndexOnly != b.isIndexOnly { return !a.isIndexOnly }
    if a.index.isSparse != b.index.isSparse { return !a.index.isSparse }
    if a.index.parts.count != b.index.parts.count {
      return a.index.parts.count > b.index.parts.count
    }
    return a.index.number > b.index.number
  }

  private func cheapest(
    _ candidates: [IndexCandidate], _ rejected: inout [AccessPlan.Rejection]
  ) throws -> AccessPlan {
    let costs = try PlanCosts(request, in: transaction)
    let scanCost = request.requiresIndex ? .infinity : costs.scan()
    var best: (cost: Double, plan: AccessPlan, index: IndexLayout?) = (scanCost, scan(), nil)
    let skipping = try skipScans(beside: candidates, costs)
    for candidate in candidates + skipping {
      if request.requiresIndex, request.needsSort, !candidate.servesOrder { continue }
      let cost = try costs.cost(of: candidate)
      guard cost < best.cost else {
        rejected.append(.init(index: candidate.index, reason: .costs(cost, best.cost)))
        continue
      }
      if let loser = best.index {
        rejected.append(.init(index: loser, reason: .costs(best.cost, cost)))
      }
      best = (cost, plan(candidate), candidate.index)
    }
    if let union = try union(), union.cost < best.cost,
      !(request.requiresIndex && request.needsSort)
    {
      if let loser = best.index {
        rejected.append(.init(index: loser, reason: .costs(best.cost, union.cost)))
      }
      return union.plan
    }
    return best.plan
  }

  // MARK: Skip scans

  /// Returns the candidates of indexes whose first part is not in the predicate but has few values:
  /// each is planned as if the predicate named all of these values.
  private func skipScans(
    beside candidates: [IndexCandidate], _ costs: PlanCosts
  ) throws -> [IndexCandidate] {
    var skipping: [IndexCandidate] = []
    for index in entity.indexes where index.parts.count > 1 && index.listPart == nil {
      if candidates.contains(where: { $0.index.number == index.number && $0.usedParts > 0 }) {
        continue
      }
      guard index.isUsable, costs.hasFewLeadingValues(index) else { continue }
      guard let leading = try LeadingValues.find(in: index, transaction) else { continue }
      do throws(IndexCandidate.Rejection) {
        guard
          var candidate = try IndexCandidate.make(
            index, for: request, known, leading: leading),
          candidate.usedParts > 1 || candidate.servesOrder && request.needsSort
        else { continue }
        candidate.isSkipScan = true
        skipping.append(candidate)
      } catch {
        continue  // the reason stands among the rejections already
      }
    }
    return skipping
  }

  // MARK: Unions

  /// Returns the plan with one index for each side of an `OR`.
  private func union() throws -> (cost: Double, plan: AccessPlan)? {
    for (number, conjunct) in request.conjuncts.enumerated() {
      guard case .or(let parts) = conjunct.program, parts.count > 1,
        parts.count <= Planner.unionSidesMax
      else { continue }
      var accesses: [IndexAccess] = []
      var cost = 0.0
      for part in parts {
        guard let side = try side(part) else { continue }
        guard let candidate = side.candidate else {
          accesses = []
          break
        }
        accesses.append(candidate.access)
        cost += side.cost
      }
      guard !accesses.isEmpty else { continue }
      let plan = plan(
        .union(accesses), covering: [], servesOrder: !request.needsSort, isByIdentity: true,
        used: [number])
      return (cost, plan)
    }
    return nil
  }

  /// Returns the candidate for one side of an `OR`.
  ///
  /// - Returns: `nil` if the side is never true; no candidate if no index serves it.
  private func side(
    _ part: PredicateProgram
  ) throws -> (candidate: IndexCandidate?, cost: Double)? {
    let conjuncts = if case .and(let parts) = part { parts } else { [part] }
    var side = request.unordered(attributes: nil)
    side.conjuncts = conjuncts.map { (.always(true), $0) }
    let known = ConjunctSets(conjuncts)
    let sideCosts = try PlanCosts(side, in: transaction)
    var best: (candidate: IndexCandidate?, cost: Double) = (nil, .infinity)
    for index in entity.indexes {
      guard
        case .success(let found) = Result(catching: {
          () throws(IndexCandidate.Rejection) in try IndexCandidate.make(index, for: side, known)
        })
      else { continue }
      guard let candidate = found else { return nil }
      guard candidate.usedParts > 0 else { continue }
      let cost = try sideCosts.cost(of: candidate)
      if cost < best.cost { best = (candidate, cost) }
    }
    return best
  }

  // MARK: Plans

  private func scan() -> AccessPlan {
    plan(.scan, covering: [], servesOrder: !request.needsSort, isByIdentity: true, used: [])
  }

  private func plan(_ candidate: IndexCandidate) -> AccessPlan {
    var plan = plan(
      .index(candidate.access), covering: candidate.covered, servesOrder: candidate.servesOrder,
      isByIdentity: candidate.access.mayRepeat, used: candidate.used)
    plan.isIndexOnly = candidate.isIndexOnly
    plan.isSkipScan = candidate.isSkipScan
    return plan
  }

  /// Returns the plan for an access.
  ///
  /// - Parameter isByIdentity: True if the access gives the records in order of record id.
  private func plan(
    _ access: RecordAccess, covering covered: Set<Int>, servesOrder: Bool, isByIdentity: Bool,
    used: Set<Int>
  ) -> AccessPlan {
    var plan = AccessPlan(access: access)
    let remaining = request.conjuncts.indices.filter { !covered.contains($0) }
      .map { request.conjuncts[$0] }
    if !remaining.isEmpty {
      plan.filter = remaining.count == 1 ? remaining[0].program : .and(remaining.map(\.program))
      plan.filtered = remaining.map(\.text)
    }
    plan.used = used.sorted().map { request.conjuncts[$0].text }
    if request.isOrdered, !servesOrder {
      plan.sort = request.sort
      plan.sortsByIdentity = request.sort.isEmpty && !isByIdentity
    }
    return plan
  }

  private func checkRequirement(_ plan: AccessPlan) throws {
    guard request.requiresIndex else { return }
    if case .scan = plan.access {
      // The number of all records is known without reading them.
      if plan.filter == nil, request.attributes?.isEmpty == true { return }
    } else if plan.sort.isEmpty {
      return
    }
    throw StoreError(
      .requiresIndex, "no index serves the fetch",
      [
        ("entity", entity.name),
        ("predicate", FetchPredicate.joined(request.conjuncts.map(\.text)) ?? "none"),
      ], advice: "add an index with a migration")
  }
}

extension BoundRequest {
  var needsSort: Bool { isOrdered && !sort.isEmpty }
}

extension FetchPredicate {
  static func joined(_ parts: [FetchPredicate]) -> String? {
    parts.isEmpty ? nil : (parts.count == 1 ? parts[0] : .and(parts)).description
  }
}

extension PredicateProgram {
  /// True if the predicate is true of no record.
  var isNever: Bool {
    switch self {
    case .constant(.no), .constant(.unknown): true
    case .identity(let ids): ids.isEmpty
    case .and(let parts): parts.contains(where: \.isNever)
    case .or(let parts): parts.allSatisfy(\.isNever)
    default: false
    }
  }
}
