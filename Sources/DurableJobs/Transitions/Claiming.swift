import EntityModel
import EntityStore
import Foundation

/// The conditions under which a runner claims jobs.
struct ClaimTerms: Equatable {
  let epoch: Int64
  /// The most jobs to claim. Negative if more run than the limit allows.
  var count: Int
  var kinds: Set<JobKind>
  /// The most jobs to claim of each queue that has a limit of its own; may be negative, too.
  var queueRoom: [QueueName: Int] = [:]
  /// True if a suspect job may be claimed, whose runners have died more than once. A runner runs
  /// one of them at a time, so that the jobs beside one that kills its runner do not die with it
  /// again.
  var admitsSuspect = true

  /// Adds the room of an attempt that has ended.
  mutating func makeRoom(in queue: QueueName) {
    count += 1
    addRoom(1, in: queue)
  }

  /// Takes the room of a running attempt.
  mutating func takeRoom(in queue: QueueName) {
    count -= 1
    addRoom(-1, in: queue)
  }

  // Most runners limit no queue, and the name of a job's queue is a new string each time.

  fileprivate mutating func addRoom(_ number: Int, in queue: @autoclosure () -> QueueName) {
    if queueRoom.isEmpty { return }
    let queue = queue().shared
    if let left = queueRoom[queue] { queueRoom[queue] = left + number }
  }

  func hasRoom(in queue: @autoclosure () -> QueueName) -> Bool {
    queueRoom.isEmpty || queueRoom[queue().shared].map { $0 > 0 } ?? true
  }
}

extension JobTable {
  /// Claims the next jobs of all lanes that may be served, by priority, then by age.
  ///
  /// - Complexity: O(*l* · log *n* + *k* · log *n*) for *l* lanes and *k* jobs claimed or held
  ///   back.
  func claim(_ terms: ClaimTerms) throws -> [JobRecord] {
    var selection = ClaimSelection(terms, self)
    var heads = try lanes(servedUnder: terms).compactMap { try LaneHead($0, in: self) }
    while selection.hasRoom,
      let number = heads.indices.min(by: { heads[$0].job.precedes(heads[$1].job) })
    {
      // Taken out of the array, so that the job is changed in place.
      let (cursor, job) = heads.remove(at: number).parts
      guard selection.terms.hasRoom(in: job.queue) else { continue }
      let next = try cursor.next()
      try selection.take(consume job)
      // Read after the claim has written: an earlier read would be outdated.
      if let next { heads.append(LaneHead(cursor: cursor, job: try self.job(ofTurn: next))) }
    }
    return selection.claimed
  }

  fileprivate func begin(_ job: inout JobRecord, epoch: Int64) throws {
    job.attempts += 1
    job.claims += 1
    job.epoch = epoch
    job.set(.startedAt, now)
    if job.uniqueUntil == .untilStarted { job.releaseUniqueKey() }
    // From here on `runAt` is the time at which the job became ready.
    job.runAt = job.at
    job.move(to: .running, at: now)
    try update(job)
  }
}

/// The jobs that one claim selects.
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

  /// True if more jobs may be considered.
  var hasRoom: Bool {
    claimed.count < terms.count && table.heldBack + passedOver < Limits.movesPerTransactionMax
  }

  /// Claims the job, unless it is held back or left to a later claim.
  mutating func take(_ job: consuming JobRecord) throws {
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
    terms.addRoom(-1, in: job.queue)
    claimed.append(consume job)
  }
}

/// The next job of a lane.
private struct LaneHead {
  let cursor: IndexPrefixCursor
  let job: JobRecord

  var parts: (cursor: IndexPrefixCursor, job: JobRecord) { (cursor, job) }
}

extension LaneHead {
  init?(_ lane: String, in table: JobTable) throws {
    let cursor = try table.cursor(.ready, [.null, .string(lane)])
    guard let first = try cursor.next() else { return nil }
    self.init(cursor: cursor, job: try table.job(ofTurn: first))
  }
}

extension JobRecord {
  /// Orders jobs by priority, then by age.
  fileprivate func precedes(_ other: JobRecord) -> Bool {
    (rank, at, id) < (other.rank, other.at, other.id)
  }
}

/// The number of running jobs of each limit. It is counted for each claim, because a crash could
/// leave a stored number wrong.
private struct LimitCounts {
  private let table: JobTable
  /// Exact below the bound up to which they were counted.
  private var running: [String: Int64] = [:]

  init(_ table: JobTable) { self.table = table }

  mutating func admit(_ job: JobRecord) throws -> Bool {
    guard let key = job.limitKey else { return true }
    let count = try running[key] ?? counted(key, upTo: job.limitMax)
    guard count < job.limitMax else { return false }
    running[key] = count + 1
    return true
  }

  /// Counts the running jobs, also those that this transaction has claimed.
  private func counted(_ key: String, upTo max: Int64) throws -> Int64 {
    let cursor = try table.cursor(.running, [.string(key)])
    var count: Int64 = 0
    while count < max, try cursor.next() != nil { count += 1 }
    return count
  }
}

extension JobTable {
  /// Makes the first job of each lane that waits for a job's limit ready. It takes one of each
  /// lane, because a lane that no runner serves must not block the others. The claim holds back
  /// those that find no room.
  ///
  /// Call it whenever a job with a limit leaves `running`, or leaves `ready` other than by being
  /// claimed.
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
