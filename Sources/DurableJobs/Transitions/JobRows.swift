import EntityModel
import EntityStore
import Foundation

/// The jobs of a store as one transaction reads them.
class JobRows {
  let snapshot: ReadTransaction
  let jobs: EntityLayout
  let turns: IndexLayout

  /// - Throws: `StoreError` if the store has no jobs.
  init(reading snapshot: ReadTransaction) throws {
    self.snapshot = snapshot
    jobs = try snapshot.layout(JobRecord.entity)
    turns = try jobs.index(named: "byTurn")
  }

  final func job(_ id: JobID) throws -> JobRecord? {
    try snapshot.copy(of: id.rawValue, in: jobs).map { JobRecord($0, id: id) }
  }

  /// The job that an entry of the index `byTurn` names.
  ///
  /// - Throws: `invalidRequest` if the job does not exist: the index is damaged.
  final func job(ofTurn number: Int64) throws -> JobRecord {
    guard let job = try job(JobID(rawValue: number)) else {
      throw JobError(
        .invalidRequest, "the index of turns names a job that does not exist",
        [("job", String(number))], advice: "run `mooring check`")
    }
    return job
  }

  final func holder(ofUniqueKey key: String) throws -> JobID? {
    let index = try jobs.index(named: "byUniqueKey")
    return try snapshot.identifier(in: jobs, index: index, by: { _ in .string(key) })
      .map(JobID.init)
  }

  /// The jobs of a state, or of a place and a lane in it, in the order of the index.
  final func cursor(
    _ state: JobState, _ place: [Value] = [], beyond: Value? = nil
  ) throws -> IndexPrefixCursor {
    try IndexPrefixCursor(
      turns, of: jobs, leading: [.string(state.rawValue)] + place, beyond: beyond, in: snapshot)
  }

  /// Calls the closure with the records under leading values of an index, in its order.
  final func eachRecord(
    of entity: String, by index: String, leading: [Value] = [], beyond: Value? = nil,
    _ body: (Record) throws -> Void
  ) throws {
    let layout = try snapshot.layout(entity)
    let cursor = try IndexPrefixCursor(
      try layout.index(named: index), of: layout, leading: leading, beyond: beyond, in: snapshot)
    while let number = try cursor.next() {
      let id = ObjectID(entity: entity, number: number)
      if let record = try snapshot.get(id) { try body(record) }
    }
  }

  /// Calls the closure with the first job of each lane, until it returns `false`.
  ///
  /// - Complexity: O(log *n*) for each lane, however many jobs it has.
  final func eachLane(
    _ state: JobState, place: Value = .null, _ body: (JobRecord) throws -> Bool
  ) throws {
    var last: Value?
    while let number = try cursor(state, [place], beyond: last).next() {
      let job = try job(ofTurn: number)
      guard try body(job) else { return }
      last = .string(job.lane)
    }
  }

  /// The lanes from which jobs can be claimed.
  final func lanes(servedUnder terms: ClaimTerms) throws -> [String] {
    guard terms.count > 0 else { return [] }
    let paused = try pausedQueues()
    var served: [String] = []
    try eachLane(.ready) { job in
      let queue = job.queue
      if terms.kinds.contains(job.kind), serves(queue), !paused.contains(queue.shared),
        terms.hasRoom(in: queue)
      {
        served.append(job.lane)
      }
      return true
    }
    return served
  }

  /// True unless the queue is that of another machine.
  private func serves(_ queue: QueueName) -> Bool {
    guard let own = snapshot.machineName, let machine = queue.machine else { return true }
    return machine == own
  }

  final func pausedQueues() throws -> Set<QueueName> {
    // Most stores never have one, and each claim reads them.
    guard try snapshot.count(of: QueueRecord.entity) > 0 else { return [] }
    var paused: Set<QueueName> = []
    let queues = try snapshot.layout(QueueRecord.entity)
    let name = try queues.position(of: "name")
    let flag = try queues.position(of: "isPaused")
    try snapshot.eachRow(of: queues) { row in
      if try row.value(flag) == .bool(true), let name = try row.value(name).stringValue {
        paused.insert(QueueName(rawValue: name))
      }
      return true
    }
    return paused
  }

  /// The next time at which a scheduled job becomes ready or a schedule enqueues one; `nil` if
  /// there is none.
  final func nextTime() throws -> Date? {
    let scheduled = try cursor(.scheduled).next().map { try job(ofTurn: $0).at }
    let fire = try dueSchedules().next().flatMap { try nextFire(of: $0) }
    return [scheduled, fire].compactMap { $0 }.min()
  }

  /// True if the cancellation of a running job was requested.
  final func isCancelled(_ id: JobID) throws -> Bool {
    let row = try snapshot.row(id.rawValue, of: jobs)
    return try row?.value(JobColumn.isCancelled.rawValue) == .bool(true)
  }
}
