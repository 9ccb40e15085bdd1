public import EntityStore

/// The halves of a runner's turn, each in a transaction of its own, for who measures what they take. A
/// runner does both in one transaction.
@_spi(Measurement)
public struct JobTurns: Sendable {
  public struct Claimed: Sendable {
    public let id: JobID
    let claim: Claim
  }

  private let store: Store

  public init(_ store: Store) { self.store = store }

  /// Claims ready jobs for a runner that is none: no other one may serve the store meanwhile.
  ///
  /// - Returns: Up to `count`; none if none is ready.
  public func claim(_ count: Int, of kinds: Set<JobKind>) async throws -> [Claimed] {
    let terms = ClaimTerms(epoch: 0, count: count, kinds: kinds)
    let jobs = try await store.write(author: "jobs") { try JobTable($0).claim(terms) }
    return jobs.compactMap { job in job.claim.map { Claimed(id: job.id, claim: $0) } }
  }

  /// - Returns: How many of them still ran under these claims, and have succeeded now.
  public func finish(_ jobs: [Claimed]) async throws -> Int {
    try await store.write(author: "jobs") { transaction in
      let table = try JobTable(transaction)
      var count = 0
      for job in jobs {
        if case .finished = try table.finish(job.claim, .succeeded(nil)) { count += 1 }
      }
      try table.settle()
      return count
    }
  }
}
