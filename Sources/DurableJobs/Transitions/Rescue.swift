import EntityModel
import EntityStore
import Foundation

extension JobTable {
  /// Takes over the jobs of a runner that has died, at most `movesPerTransactionMax`.
  ///
  /// A death counts against a job only if the job has stored no checkpoint under its claim and the
  /// runner was not stopping: a job that makes some progress in each attempt is never poisoned.
  ///
  /// - Returns: The jobs. Fewer than the bound means that none is left.
  func rescue(fromRunner epoch: Int64, wasStopping: Bool) throws -> [JobRecord] {
    var rescued: [JobRecord] = []
    for var job in try running(under: epoch) {
      guard let claim = job.claim else { continue }
      let began = job.startedAt
      let counts = !wasStopping && job.checkpointClaim != job.claims
      job.epoch = nil
      job.attempts -= 1
      if counts { job.rescues += 1 }
      try recordAttempt(job, claim, began: began, counts ? "rescued" : "interrupted", nil)
      if counts, job.rescues > job.rescuesMax {
        job.error = "its runner died \(job.rescues) times without a checkpoint"
        try end(&job, as: .poisoned, began: began)
      } else {
        // A job that has killed its runner more than once waits longer, so that others progress.
        let wait = job.rescues > 1 && counts ? pow(2, Double(min(job.rescues, 10) - 2)) : 0
        try reschedule(&job, at: now.addingTimeInterval(wait))
      }
      rescued.append(job)
    }
    return rescued
  }

  /// The running jobs of a runner, at most `movesPerTransactionMax`.
  ///
  /// - Complexity: O(*r* · log *n*) for *r* running jobs of all runners.
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

/// Takes over all jobs of a runner that has died, in as many transactions as needed.
enum JobRescue {
  /// - Returns: The number of jobs.
  @discardableResult
  static func run(_ epoch: Int64, in store: Store) async throws -> Int {
    var count = 0
    while true {
      let rescued = try await store.write(author: "jobs") { transaction in
        // Another runner may have taken them over.
        let rows = try RunnerRow.others(than: nil, in: transaction)
        guard let row = rows.first(where: { $0.epoch == epoch }) else { return 0 }
        let table = try JobTable(transaction)
        let rescued = try table.rescue(fromRunner: epoch, wasStopping: row.isStopping)
        if rescued.count < Limits.movesPerTransactionMax { try table.removeRunner(epoch) }
        try table.addAggregates()
        return rescued.count
      }
      count += rescued
      if rescued < Limits.movesPerTransactionMax { return count }
    }
  }
}

/// The record of a runner in the store.
struct RunnerRow {
  let epoch: Int64
  let isStopping: Bool

  /// All runners except one.
  static func others(than epoch: Int64?, in transaction: ReadTransaction) throws -> [RunnerRow] {
    var rows: [RunnerRow] = []
    let layout = try transaction.layout(RunnerRecord.entity)
    let stopped = try layout.position(of: "stoppedAt")
    try transaction.eachRow(of: layout) { row in
      if row.id != epoch {
        rows.append(RunnerRow(epoch: row.id, isStopping: try row.value(stopped) != .null))
      }
      return true
    }
    return rows
  }
}

extension JobTable {
  /// Records that a runner is stopping: from now on its death counts against none of its jobs.
  func recordStop(_ epoch: Int64) throws {
    let id = ObjectID(entity: RunnerRecord.entity, number: epoch)
    guard try transaction.get(id) != nil else { return }
    try transaction.update(id) { try $0.set("stoppedAt", to: .date(now)) }
  }

  /// Throws `lostRunner` if others have taken the runner for dead and removed its record: the jobs
  /// that it claims under it could not be taken over.
  func requireRunner(_ epoch: Int64) throws {
    let id = ObjectID(entity: RunnerRecord.entity, number: epoch)
    guard try transaction.get(id) == nil else { return }
    throw JobError(
      .lostRunner, "other runners took this one for dead", [("runner", String(epoch))],
      advice: "start it again")
  }

  /// Removes the record of a runner, unless jobs are running under it, which must be taken over
  /// first.
  func removeRunner(_ epoch: Int64) throws {
    guard try running(under: epoch).isEmpty else { return }
    try transaction.delete(ObjectID(entity: RunnerRecord.entity, number: epoch))
  }
}
