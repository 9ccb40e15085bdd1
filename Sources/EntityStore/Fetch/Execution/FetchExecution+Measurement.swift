import EntityModel

extension FetchExecution {
  /// Runs a part of the fetch, and measures it if the store has an observer.
  @inline(__always)
  mutating func measured<R>(_ body: (inout FetchExecution) throws -> R) throws -> R {
    guard let observation else { return try body(&self) }
    let start = begin(observation)
    defer { end(observation, start) }
    return try body(&self)
  }

  /// Counts the uses of the indexes that the plan reads.
  private func begin(_ observation: FetchObservation) -> ContinuousClock.Instant {
    let observer = observation.observer
    switch plan.access {
    case .nothing, .scan, .identifiers: break
    case .index(let access): observer.countUse(ofIndex: access.index.description.id)
    case .union(let accesses):
      for access in accesses { observer.countUse(ofIndex: access.index.description.id) }
    }
    return observer.begin()
  }

  private func end(_ observation: FetchObservation, _ start: ContinuousClock.Instant) {
    observation.observer.end(start) { duration in
      var plan = FetchPlan(observation.request, plan, entity)
      plan.statistics = statistics
      return ObservedFetch(observation.request, plan, duration)
    }
  }
}
