import EntityStore
import Foundation

/// The transaction of a runner: it writes the attempts that have ended and claims the next jobs.
struct JobExchange: Sendable {
  /// The results of the attempts, in order; `nil` for one whose handler has completed the job.
  var results: [FinishResult?] = []
  var claimed: [JobRecord] = []
  /// The number of jobs that were held back because of a limit. Others may be ready after them.
  var heldBack = 0

  /// - Parameter terms: `nil` to claim nothing.
  /// - Parameter firesSchedules: True to enqueue the jobs of due schedules, too.
  static func run(
    _ ended: [(Claim, Outcome?)], _ progress: [(Claim, JobProgress)], _ terms: ClaimTerms?,
    firesSchedules: Bool = true, in transaction: WriteTransaction
  ) throws -> JobExchange {
    let table = try JobTable(transaction)
    var exchange = JobExchange()
    // Before the ends, so that an attempt that ends leaves its last progress.
    for (claim, progress) in progress { try table.store(progress, under: claim) }
    for (claim, outcome) in ended {
      exchange.results.append(try outcome.map { try table.finish(claim, $0) })
    }
    if let terms, terms.count > 0 {
      if firesSchedules { try table.fire() }
      try table.promote()
      exchange.claimed = try table.claim(terms)
      exchange.heldBack = table.heldBack
    }
    try table.addAggregates()
    return exchange
  }
}

extension JobTable {
  /// Stores the progress of a job, if the claim is still valid.
  func store(_ progress: JobProgress, under claim: Claim) throws {
    guard var job = try job(held: claim) else { return }
    job.set(.done, progress.done)
    job.set(.total, progress.total)
    job.set(.note, progress.note?.clipped)
    try update(job)
  }
}
