public import EntityStore

/// The halves of a runner's turn, each in a transaction of its own, for measurements. A runner does
/// both in one transaction. Both functions block the calling thread.
@_spi(Measurement)
public struct JobTurns: Sendable {
  public struct Claimed: Sendable {
    public let id: JobID
    let claim: Claim
  }

  private let store: Store

  public init(_ store: Store) { self.store = store }

  /// Claims ready jobs without a runner. No runner may serve the store at the same time.
  ///
  /// - Returns: At most `count` jobs; none if none is ready.
  public func claim(_ count: Int, of kinds: Set<JobKind>) throws -> [Claimed] {
    let terms = ClaimTerms(epoch: 0, count: count, kinds: kinds)
    let jobs = try store.writeBlocking(author: "jobs") { try JobTable($0).claim(terms) }
    return jobs.compactMap { job in job.claim.map { Claimed(id: job.id, claim: $0) } }
  }

  /// Finishes jobs as succeeded.
  ///
  /// - Returns: The number of jobs whose claims were still valid.
  public func finish(_ jobs: [Claimed]) throws -> Int {
    try store.writeBlocking(author: "jobs") { transaction in
      let table = try JobTable(transaction)
      var count = 0
      for job in jobs {
        if case .finished = try table.finish(job.claim, .succeeded(nil)) { count += 1 }
      }
      try table.addAggregates()
      return count
    }
  }
}
