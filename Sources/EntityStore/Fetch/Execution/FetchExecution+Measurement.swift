import EntityModel

extension FetchExecution {
  /// Begins the measurement of what is read next, and counts the uses of its indexes.
  ///
  /// - Returns: The time; `nil` if the store has no observer.
  @inline(__always)
  func begin() -> Int64? { observer.map(begin) }

  private func begin(_ observer: FetchObserver) -> Int64 {
    switch plan.access {
    case .nothing, .scan, .identifiers: break
    case .index(let access): access.index.countUse()
    case .union(let accesses): for access in accesses { access.index.countUse() }
    }
    return observer.now()
  }

  func end(_ start: Int64) {
    guard let observer, let duration = observer.slowDuration(since: start), let request = observed
    else { return }
    var plan = FetchPlan(request, plan, entity)
    plan.statistics = statistics
    plan.rejected = []
    observer.onSlow(
      ObservedFetch(
        request: request,
        access: (plan.kinds.sorted().map(\.rawValue) + plan.indexes.map(\.name))
          .joined(separator: " "),
        plan: "\(plan)", duration: duration))
  }

  /// The request that is measured. That of a cached plan may have had another window.
  private var observed: FetchRequest? {
    guard var request = planned.observed else { return nil }
    request.fetchOffset = window.offset
    request.fetchLimit = window.limit == .max ? nil : window.limit
    return request
  }
}

extension ReadTransaction {
  /// Returns the uses of the indexes of programs' entities since the last call, by the number of
  /// the index in the catalog. Those since the last call are lost when the schema changes.
  package func takeIndexUses() -> [Int: Int] {
    var uses: [Int: Int] = [:]
    for entity in catalog.entities.values where !entity.description.isSystem {
      for index in entity.indexes {
        let count = index.takeUses()
        if count > 0 { uses[index.description.id] = count }
      }
    }
    return uses
  }
}
