import EntityModel
import SystemSupport

/// A plan for a fetch request, whose contents only the fetch knows.
protocol CachedPlan: AnyObject, Sendable {}

/// The plans that stay valid for as long as the catalog does, by the requests they answer.
///
/// A program repeats the same requests, and planning one takes longer than reading its twenty
/// records. A plan is cached when its request comes for the second time: many requests have a value
/// of their own and are not repeated.
final class PlanCache: Sendable {
  /// A request with its hash, which takes longer than a lookup and is computed once.
  struct Key: Hashable {
    let request: FetchRequest
    fileprivate let hash: Int

    private static let depthMax = 32

    /// Returns `nil` for a request with a deep predicate: hashing and comparing it would exhaust a
    /// thread's stack.
    init?(_ request: FetchRequest) {
      if request.predicate?.isDeeper(than: Self.depthMax) == true { return nil }
      self.request = request
      hash = request.hashValue
    }

    func hash(into hasher: inout Hasher) { hasher.combine(hash) }

    static func == (a: Key, b: Key) -> Bool { a.hash == b.hash && a.request == b.request }
  }

  private struct State {
    var plans: [Key: any CachedPlan] = [:]
    /// The hashes of requests that were planned once.
    var planned: Set<Int> = []
  }

  /// The maximum number of plans. A full cache is cleared: it is mostly full of requests that are
  /// no longer repeated.
  private static let capacity = 256

  private let state = Locked(State())

  subscript(_ key: Key) -> (any CachedPlan)? { state.withLock { $0.plans[key] } }

  func insert(_ plan: @autoclosure () -> (any CachedPlan)?, for key: Key) {
    state.withLock { state in
      if state.planned.count >= PlanCache.capacity {
        state.planned.removeAll(keepingCapacity: true)
      }
      if state.planned.insert(key.hash).inserted { return }
      if state.plans.count >= PlanCache.capacity { state.plans.removeAll(keepingCapacity: true) }
      state.plans[key] = plan()
    }
  }
}

extension FetchPredicate {
  /// Returns true if the predicate has more levels, expressions included.
  fileprivate func isDeeper(than depth: Int) -> Bool {
    switch self {
    case .always: false
    case .comparison(let comparison):
      comparison.left.isDeeper(than: depth) || comparison.right.isDeeper(than: depth)
    case .exists(_, let part), .not(let part): depth == 0 || part.isDeeper(than: depth - 1)
    case .and(let parts), .or(let parts):
      depth == 0 || parts.contains { $0.isDeeper(than: depth - 1) }
    }
  }
}

extension FetchExpression {
  fileprivate func isDeeper(than depth: Int) -> Bool {
    switch self {
    case .value, .object, .path, .itself, .variable, .collection, .aggregate(_, nil): false
    case .list(let parts): depth == 0 || parts.contains { $0.isDeeper(than: depth - 1) }
    case .aggregate(_, let part?), .negative(let part):
      depth == 0 || part.isDeeper(than: depth - 1)
    case .arithmetic(_, let left, let right):
      depth == 0 || left.isDeeper(than: depth - 1) || right.isDeeper(than: depth - 1)
    }
  }
}
