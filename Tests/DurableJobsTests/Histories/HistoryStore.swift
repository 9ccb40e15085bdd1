import EntityModel
import EntityStore
import Foundation
import TestSupport

@testable import DurableJobs

/// Does the steps of a history to a store, in the way in which a program does them.
struct HistoryStore {
  private struct Aborted: Error {}

  let store: Store
  let clock: ManualClock

  /// - Parameter aborts: True if the transaction is rolled back at its end.
  func apply(_ step: HistoryStep, aborts: Bool = false) async throws -> HistoryAnswer {
    if case .advance(let seconds) = step {
      clock.advance(by: seconds)
      return .nothing
    }
    do {
      if !aborts, let claim = step.handlersClaim { return try await handle(step, claim) }
      return try await store.write { transaction in
        let answer = try perform(step, in: transaction)
        if aborts { throw Aborted() }
        return answer
      }
    } catch let error as JobError {
      return .refused(error.code)
    } catch is Aborted {
      return .nothing
    }
  }

  /// The writes of a handler through its context.
  private func handle(_ step: HistoryStep, _ claim: Claim) async throws -> HistoryAnswer {
    let record = try store.read { try JobRows(reading: $0).job(claim.job) }
    guard let record else { return .refused(.lostClaim) }
    let running = RunningJob(record, claim: claim, began: .now, waited: .zero) {}
    let context = JobContext(
      id: claim.job, kind: record.kind, queue: record.queue, attempt: 1, store: store,
      runnerLogger: RunnerOptions().logger, payload: record.payload, checkpointData: nil,
      running: running)
    if case .complete = step {
      _ = try await context.complete { _ in NoOutput() }
    } else {
      try await context.write(checkpoint: 1) { _ in }
    }
    return .nothing
  }

  private func perform(
    _ step: HistoryStep, in transaction: WriteTransaction
  ) throws -> HistoryAnswer {
    let table = try JobTable(transaction)
    defer { withExtendedLifetime(table) {} }
    switch step {
    case .enqueue(let request, nil): return .job(try transaction.enqueue(request))
    case .enqueue(let request, let group?):
      return .job(try transaction.enqueue(request, in: JobGroupID(rawValue: group)))
    case .group(let requests, let completion):
      return .group(try transaction.enqueue(group: requests, then: completion).rawValue)
    case .openGroup(let completion):
      return .group(try transaction.openGroup(then: completion).rawValue)
    case .closeGroup(let group):
      try transaction.closeGroup(JobGroupID(rawValue: group))
      return .nothing
    case .exchange(let ended, let progress, let terms):
      let outcomes = ended.map { ($0.0, Optional($0.1)) }
      let exchange = try JobExchange.run(outcomes, progress, terms, in: transaction)
      return .exchange(
        exchange.results.compactMap { $0 }, claimed: exchange.claimed.map(\.id.rawValue))
    case .checkpoint, .complete, .advance: return .nothing
    case .rescue(let epoch, let wasStopping):
      let rescued = try table.rescue(fromRunner: epoch, wasStopping: wasStopping)
      try table.addAggregates()
      return .count(rescued.count)
    case .cancel(let id):
      let state = try table.cancel(id)
      try table.addAggregates()
      return .state(state)
    case .retry(let id): return .state(try table.retry(id))
    case .setPaused(let isPaused, let queue):
      return .count(try table.setPaused(isPaused, queue) ? 1 : 0)
    case .prune: return .count(try table.prune())
    }
  }

  // MARK: Looking

  func records() throws -> [JobRecord] {
    try store.read { transaction in
      let rows = try JobRows(reading: transaction)
      var records: [JobRecord] = []
      try transaction.eachRow(of: rows.jobs) { row in
        records.append(try JobRecord(row))
        return true
      }
      return records
    }
  }

  /// The counts of the groups by their numbers.
  func groups() throws -> [Int64: (JobModel.Group, jobs: Int)] {
    let records = try store.fetch(FetchRequest(entityName: GroupRecord.entity))
    var groups: [Int64: (JobModel.Group, jobs: Int)] = [:]
    for record in records {
      let counts = try GroupCounts(record)
      let group = JobModel.Group(
        isClosed: counts.isClosed, pending: Int(counts.pending), succeeded: Int(counts.succeeded),
        completion: counts.completion?.rawValue)
      groups[record.id.number] = (group, Int(counts.jobs))
    }
    return groups
  }
}

extension HistoryStep {
  /// The claim under which a handler does it.
  fileprivate var handlersClaim: Claim? {
    switch self {
    case .checkpoint(let claim), .complete(let claim): claim
    default: nil
    }
  }
}

extension JobModel.Job {
  /// A job of the store in the form of the model.
  init(_ record: JobRecord) {
    self.init(
      id: record.id.rawValue, kind: record.kind, queue: record.queue,
      attemptsMax: Int(record.attemptsMax), rescuesMax: Int(record.rescuesMax),
      retention: record.retention, uniqueUntil: record.uniqueUntil ?? .untilFinished,
      limit: record.limitKey.map { JobLimit($0, max: Int(record.limitMax)) }, group: record.group,
      state: record.state == .held ? .ready : record.state ?? .blocked, at: record.at,
      runAt: record.runAt, payload: record.payload, priority: Int(record.priority),
      attempts: Int(record.attempts), rescues: Int(record.rescues), claims: record.claims,
      epoch: record.epoch, startedAt: record.startedAt, finishedAt: record.finishedAt,
      isCancelled: record.isCancelled, uniqueKey: record.uniqueKey,
      releasedUniqueKey: record.releasedUniqueKey,
      checkpointClaim: record.checkpointClaim, hasCheckpoint: record.checkpoint != nil,
      done: record.done, error: record.error)
  }
}
