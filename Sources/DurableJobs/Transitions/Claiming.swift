import EntityModel
import EntityStore
import Foundation

/// What a runner can take on just now.
struct ClaimTerms {
  let epoch: Int64
  /// Jobs at most. Below zero where more run than may.
  var count: Int
  var kinds: Set<JobKind>
  /// Of a queue that has a limit of its own in this runner, how many more may run; likewise.
  var queueRoom: [QueueName: Int] = [:]
  /// Whether one of those may be taken with which runners have died more than once. A runner has one of
  /// them at a time: so what died beside a job that kills its runner does not go on dying with it.
  var admitsSuspect = true

  /// One of a queue has ended since. Whether a suspect may be taken for it stays open.
  mutating func makeRoom(in queue: QueueName) {
    count += 1
    if let left = queueRoom[queue] { queueRoom[queue] = left + 1 }
  }

  func hasRoom(in queue: QueueName) -> Bool { queueRoom[queue].map { $0 > 0 } ?? true }
}

extension JobTable {
  /// Takes the next jobs: by priority, then by age, over all lanes that may be served.
  ///
  /// - Complexity: O(*l* · log *n* + *k* · log *n*) for *l* lanes and *k* jobs taken or held back.
  func claim(_ terms: ClaimTerms) throws -> [JobRecord] {
    var selection = ClaimSelection(terms, self)
    var heads = try lanes(servedUnder: terms).compactMap { try LaneHead($0, in: self) }
    while selection.goesOn,
      let number = heads.indices.min(by: { heads[$0].job.precedes(heads[$1].job) })
    {
      guard selection.terms.hasRoom(in: heads[number].job.queue) else {
        heads.remove(at: number)
        continue
      }
      let next = try heads[number].cursor.next()
      try selection.take(heads[number].job)
      // Looked up only now: what has been written since would have it looked up again.
      if let next {
        heads[number].job = try job(ofTurn: next)
      } else {
        heads.remove(at: number)
      }
    }
    return selection.claimed
  }

  fileprivate func begin(_ job: inout JobRecord, epoch: Int64) throws {
    job.attempts += 1
    job.claims += 1
    job.epoch = epoch
    job.startedAt = now
    if job.uniqueUntil == .untilStarted { job.giveUpUniqueKey() }
    // How long it has stood ready is told by what its runAt says from here on.
    job.runAt = job.at
    job.move(to: .running, at: now)
    try update(job)
  }
}

/// What one claim takes.
private struct ClaimSelection {
  private let table: JobTable
  private(set) var terms: ClaimTerms
  private(set) var claimed: [JobRecord] = []
  private var limits: LimitCounts
  private var passedOver = 0

  init(_ terms: ClaimTerms, _ table: JobTable) {
    self.table = table
    self.terms = terms
    limits = LimitCounts(table)
  }

  /// Whether more jobs may be looked at.
  var goesOn: Bool {
    claimed.count < terms.count && table.heldBack + passedOver < Limits.movesPerTransactionMax
  }

  /// Takes the job, unless it is held back or left to a later claim.
  mutating func take(_ job: JobRecord) throws {
    var job = job
    if job.isSuspect, !terms.admitsSuspect {
      passedOver += 1
      return
    }
    guard try limits.admit(job) else {
      job.move(to: .held, at: job.at)
      try table.update(job)
      table.heldBack += 1
      return
    }
    if job.isSuspect { terms.admitsSuspect = false }
    try table.begin(&job, epoch: terms.epoch)
    if let left = terms.queueRoom[job.queue] { terms.queueRoom[job.queue] = left - 1 }
    claimed.append(job)
  }
}

/// The first job of a lane that has not been looked at yet.
private struct LaneHead {
  let cursor: IndexPrefixCursor
  var job: JobRecord

  init?(_ lane: String, in table: JobTable) throws {
    cursor = try table.cursor(.ready, [.null, .string(lane)])
    guard let first = try cursor.next() else { return nil }
    job = try table.job(ofTurn: first)
  }
}

extension JobRecord {
  /// The order of a queue.
  fileprivate func precedes(_ other: JobRecord) -> Bool {
    (rank, at, id) < (other.rank, other.at, other.id)
  }
}

/// How many jobs of each limit run: counted, and not kept in a number that a crash could leave wrong.
private struct LimitCounts {
  private let table: JobTable
  /// Exact: below the bound up to which they were counted.
  private var running: [String: Int64] = [:]

  init(_ table: JobTable) { self.table = table }

  mutating func admit(_ job: JobRecord) throws -> Bool {
    guard let key = job.limitKey else { return true }
    let count = try running[key] ?? counted(key, upTo: job.limitMax)
    guard count < job.limitMax else { return false }
    running[key] = count + 1
    return true
  }

  /// With what this transaction has claimed.
  private func counted(_ key: String, upTo max: Int64) throws -> Int64 {
    let cursor = try table.cursor(.running, [.string(key)])
    var count: Int64 = 0
    while count < max, try cursor.next() != nil { count += 1 }
    return count
  }
}

extension JobTable {
  /// Lets the first job of each lane that waits behind a job's limit compete again: of each lane, as
  /// one that nobody serves just now must not keep the others waiting. Those that find no room are
  /// held back again.
  ///
  /// To be called whenever a job with a limit leaves `running`, or leaves `ready` other than by
  /// being claimed.
  func releaseLimit(of job: JobRecord) throws {
    guard let key = job.limitKey else { return }
    var first: [JobRecord] = []
    try eachLane(.held, place: .string(key)) { job in
      first.append(job)
      return first.count < Limits.lanesOfLimitMax
    }
    for var job in first {
      job.move(to: .ready, at: job.at)
      try update(job)
    }
  }
}
