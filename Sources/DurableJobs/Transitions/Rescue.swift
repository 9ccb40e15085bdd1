import EntityModel
import EntityStore
import Foundation

extension JobTable {
  /// Takes over the jobs of a runner that has died, a bounded number at a time.
  ///
  /// A death counts against a job only if the job made no checkpoint under its claim and the runner was
  /// not stopping in order: so a job that gets on a little each time is not taken for poison.
  ///
  /// - Returns: The jobs that were taken over; fewer than `movesPerTransactionMax` when none is left.
  func rescue(fromRunner epoch: Int64, wasStopping: Bool) throws -> [JobRecord] {
    var rescued: [JobRecord] = []
    for var job in try running(under: epoch) {
      guard let claim = job.claim else { continue }
      let began = job.startedAt
      let counts = !wasStopping && job.checkpointClaim != job.claims
      job.epoch = nil
      job.attempts -= 1
      if counts { job.rescues += 1 }
      try note(job, claim, began: began, counts ? "rescued" : "interrupted", nil)
      if counts, job.rescues > job.rescuesMax {
        job.error = "its runner died \(job.rescues) times without a checkpoint"
        try end(&job, as: .poisoned, began: began)
      } else {
        // What has killed its runner more than once is given time, so that others get on.
        let wait = job.rescues > 1 && counts ? pow(2, Double(min(job.rescues, 10) - 2)) : 0
        try putOff(&job, until: now.addingTimeInterval(wait))
      }
      rescued.append(job)
    }
    return rescued
  }

  /// - Complexity: O(*r* · log *n*) for *r* running jobs of all runners, which their slots bound.
  func running(under epoch: Int64) throws -> [JobRecord] {
    let cursor = try cursor(.running)
    var found: [JobRecord] = []
    while found.count < Limits.movesPerTransactionMax, let id = try cursor.next() {
      let job = try job(ofTurn: id)
      if job.epoch == epoch { found.append(job) }
    }
    return found
  }
}
