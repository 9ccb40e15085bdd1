import EntityStore
import Foundation

/// What a runner and the store tell each other in one transaction.
struct JobExchange: Sendable {
  /// Of each attempt that had not ended its job itself.
  var results: [FinishResult?] = []
  var claimed: [JobRecord] = []
  /// Jobs that were held back, so that there may be others behind them.
  var heldBack = 0

  static func run(
    _ ended: [(Claim, Outcome?)], _ progress: [(Claim, JobProgress)], _ terms: ClaimTerms,
    firesSchedules: Bool = true, in transaction: WriteTransaction
  ) throws -> JobExchange {
    let table = try JobTable(transaction)
    var exchange = JobExchange()
    // What was said last is said by a job that ends, too.
    for (claim, progress) in progress { try table.note(progress, under: claim) }
    for (claim, outcome) in ended {
      exchange.results.append(try outcome.map { try table.finish(claim, $0) })
    }
    if terms.count > 0 {
      if firesSchedules { try table.fire() }
      try table.promote()
      exchange.claimed = try table.claim(terms)
      exchange.heldBack = table.heldBack
    }
    try table.settle()
    return exchange
  }
}

extension JobTable {
  /// Stores how far a job has come, while its claim is valid.
  func note(_ progress: JobProgress, under claim: Claim) throws {
    guard var job = try job(held: claim) else { return }
    job.done = progress.done
    job.total = progress.total
    job.note = progress.note?.clipped
    try update(job)
  }
}
