import EntityModel
public import EntityStore
import Foundation

extension WriteTransaction {
  /// Enqueues jobs that form a group, and a completion job that runs when all of them have ended,
  /// successfully or not.
  ///
  /// - Throws: The errors of `enqueue(_:)`.
  @discardableResult
  public func enqueue(
    group requests: [JobRequest], named name: String? = nil, then completion: JobRequest? = nil
  ) throws -> JobGroupID {
    let group = try openGroup(named: name, then: completion)
    for request in requests { try enqueue(request, in: group) }
    try closeGroup(group)
    return group
  }

  /// Opens a group to which this and later transactions add jobs. Its completion job waits until
  /// the group is closed and all of its jobs have ended.
  public func openGroup(
    named name: String? = nil, then completion: JobRequest? = nil
  ) throws -> JobGroupID {
    try JobTable(self).openGroup(named: name, then: completion)
  }

  /// Adds a job to an open group. Adds nothing if an existing job has its unique key.
  ///
  /// - Throws: `unknownGroup`; `wrongState` for a group that is closed; otherwise as `enqueue(_:)`.
  @discardableResult
  public func enqueue(_ request: JobRequest, in group: JobGroupID) throws -> EnqueuedJob {
    try JobTable(self).enqueue(request, joining: group.rawValue)
  }

  /// Closes a group: no more jobs can be added. Does nothing if it is closed.
  ///
  /// - Throws: `unknownGroup`.
  public func closeGroup(_ group: JobGroupID) throws {
    try JobTable(self).close(group.rawValue)
  }
}

extension JobTable {
  fileprivate func openGroup(named name: String?, then request: JobRequest?) throws -> JobGroupID {
    var completion: JobID?
    if let request {
      let job = try enqueue(request, isBlocked: true)
      guard job.isNew else {
        throw JobError(
          .duplicate, "the completion job of a group has the unique key of another job",
          [("job", job.id.description)], advice: "give it a key of its own, or none")
      }
      completion = job.id
    }
    let id = try transaction.insert(
      GroupRecord.entity,
      [
        "name": name.map(Value.string) ?? .null, "createdAt": .date(now),
        "completion": completion.map { .int64($0.rawValue) } ?? .null,
      ])
    return JobGroupID(rawValue: id.number)
  }

  fileprivate func enqueue(_ request: JobRequest, joining group: Int64) throws -> EnqueuedJob {
    guard try !require(group).isClosed else {
      throw JobError(
        .wrongState, "a job group is closed", [("group", String(group))], advice: "open another one"
      )
    }
    let job = try enqueue(request, in: group)
    if job.isNew {
      try change(group) {
        $0.jobs += 1
        $0.pending += 1
      }
    }
    return job
  }

  fileprivate func close(_ group: Int64) throws {
    _ = try require(group)
    try change(group) { $0.isClosed = true }
  }

  /// Counts a job of the group as ended.
  func leave(_ group: Int64, _ state: JobState) throws {
    try change(group) {
      $0.pending -= 1
      if state == .succeeded { $0.succeeded += 1 }
    }
  }

  /// Counts a job of the group that had ended as pending again.
  func rejoin(_ group: Int64) throws {
    try change(group) { $0.pending += 1 }
  }

  /// True for a completion job that was cancelled before its group has ended.
  ///
  /// - Complexity: O(*g*) for *g* groups, if the job was never claimed.
  func mustWaitForGroup(_ job: JobRecord) throws -> Bool {
    // A completion job is claimed only after its group has ended.
    guard job.claims == 0 else { return false }
    let groups = try transaction.layout(GroupRecord.entity)
    let completion = try groups.position(of: "completion")
    var group: Int64?
    try transaction.eachRow(of: groups) { row in
      if row.int64(completion) == job.id.rawValue { group = row.id }
      return group == nil
    }
    return try group.flatMap { try counts(of: $0) }.map { !$0.isOver } ?? false
  }

  /// Counts a job of the group as removed, and removes the group with its last job.
  func removeMember(of group: Int64) throws {
    try change(group) { $0.jobs -= 1 }
  }

  private func change(_ group: Int64, _ change: (inout GroupCounts) -> Void) throws {
    guard var counts = try counts(of: group) else { return }
    change(&counts)
    try transaction.update(ObjectID(entity: GroupRecord.entity, number: group)) { record in
      try record.set("isClosed", to: .bool(counts.isClosed))
      try record.set("jobs", to: .int64(counts.jobs))
      try record.set("pending", to: .int64(counts.pending))
      try record.set("succeeded", to: .int64(counts.succeeded))
    }
    guard counts.isClosed else { return }
    if counts.isOver, let completion = counts.completion, var job = try job(completion),
      job.state == .blocked
    {
      job.wait(until: job.runAt, now: now)
      try update(job)
    }
    if counts.jobs == 0 {
      try transaction.delete(ObjectID(entity: GroupRecord.entity, number: group))
    }
  }

  private func require(_ group: Int64) throws -> GroupCounts {
    guard let counts = try counts(of: group) else {
      throw JobError(
        .unknownGroup, "there is no such job group", [("group", String(group))],
        advice: "a group is removed with its last job")
    }
    return counts
  }

  private func counts(of group: Int64) throws -> GroupCounts? {
    try transaction.get(ObjectID(entity: GroupRecord.entity, number: group)).map(GroupCounts.init)
  }
}

/// The state of a group.
struct GroupCounts {
  var isClosed: Bool
  var jobs: Int64
  var pending: Int64
  var succeeded: Int64
  let completion: JobID?
  /// True if the group is closed and all of its jobs have ended.
  var isOver: Bool { isClosed && pending == 0 }

  init(_ record: Record) throws {
    isClosed = try record["isClosed"] == .bool(true)
    jobs = try record["jobs"].int64Value ?? 0
    pending = try record["pending"].int64Value ?? 0
    succeeded = try record["succeeded"].int64Value ?? 0
    completion = try record["completion"].int64Value.map(JobID.init)
  }
}
