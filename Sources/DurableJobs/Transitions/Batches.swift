import EntityModel
public import EntityStore
import Foundation

extension WriteTransaction {
  /// Enqueues jobs that form a batch, and a completion job that runs when all of them have ended,
  /// successfully or not.
  ///
  /// - Throws: The errors of `enqueue(_:)`.
  @discardableResult
  public func enqueue(
    batch requests: [JobRequest], named name: String? = nil, then completion: JobRequest? = nil
  ) throws -> JobBatchID {
    let batch = try openBatch(named: name, then: completion)
    for request in requests { try enqueue(request, in: batch) }
    try closeBatch(batch)
    return batch
  }

  /// Opens a batch to which this and later transactions add jobs. Its completion job waits until
  /// the batch is closed and all of its jobs have ended.
  public func openBatch(
    named name: String? = nil, then completion: JobRequest? = nil
  ) throws -> JobBatchID {
    try JobTable(self).openBatch(named: name, then: completion)
  }

  /// Adds a job to an open batch. Adds nothing if an existing job has its unique key.
  ///
  /// - Throws: `unknownBatch`; `wrongState` for a batch that is closed; otherwise as `enqueue(_:)`.
  @discardableResult
  public func enqueue(_ request: JobRequest, in batch: JobBatchID) throws -> EnqueuedJob {
    try JobTable(self).enqueue(request, joining: batch.rawValue)
  }

  /// Closes a batch: no more jobs can be added. Does nothing if it is closed.
  ///
  /// - Throws: `unknownBatch`.
  public func closeBatch(_ batch: JobBatchID) throws {
    try JobTable(self).close(batch.rawValue)
  }
}

extension JobTable {
  fileprivate func openBatch(named name: String?, then request: JobRequest?) throws -> JobBatchID {
    var completion: JobID?
    if let request {
      let job = try enqueue(request, isBlocked: true)
      guard job.isNew else {
        throw JobError(
          .duplicate, "the completion job of a batch has the unique key of another job",
          [("job", job.id.description)], advice: "give it a key of its own, or none")
      }
      completion = job.id
    }
    let id = try transaction.insert(
      BatchRecord.entity,
      [
        "name": name.map(Value.string) ?? .null, "createdAt": .date(now),
        "completion": completion.map { .int64($0.rawValue) } ?? .null,
      ])
    return JobBatchID(rawValue: id.number)
  }

  fileprivate func enqueue(_ request: JobRequest, joining batch: Int64) throws -> EnqueuedJob {
    guard try !require(batch).isClosed else {
      throw JobError(
        .wrongState, "a batch is closed", [("batch", String(batch))], advice: "open another one")
    }
    let job = try enqueue(request, in: batch)
    if job.isNew {
      try change(batch) {
        $0.jobs += 1
        $0.pending += 1
      }
    }
    return job
  }

  fileprivate func close(_ batch: Int64) throws {
    _ = try require(batch)
    try change(batch) { $0.isClosed = true }
  }

  /// Counts a job of the batch as ended.
  func leave(_ batch: Int64, _ state: JobState) throws {
    try change(batch) {
      $0.pending -= 1
      if state == .succeeded { $0.succeeded += 1 }
    }
  }

  /// Counts a job of the batch that had ended as pending again.
  func rejoin(_ batch: Int64, _ job: JobRecord) throws {
    try change(batch) { $0.pending += 1 }
  }

  /// True for a completion job that was cancelled before its batch has ended.
  ///
  /// - Complexity: O(*b*) for *b* batches, if the job was never claimed.
  func mustWaitForBatch(_ job: JobRecord) throws -> Bool {
    // A completion job is claimed only after its batch has ended.
    guard job.claims == 0 else { return false }
    let batches = try transaction.layout(BatchRecord.entity)
    let completion = try batches.position(of: "completion")
    var batch: Int64?
    try transaction.eachRow(of: batches) { row in
      if row.int64(completion) == job.id.rawValue { batch = row.id }
      return batch == nil
    }
    return try batch.flatMap { try counts(of: $0) }.map { !$0.isOver } ?? false
  }

  /// Counts a job of the batch as removed, and removes the batch with its last job.
  func removeMember(of batch: Int64) throws {
    try change(batch) { $0.jobs -= 1 }
  }

  private func change(_ batch: Int64, _ change: (inout BatchCounts) -> Void) throws {
    guard var counts = try counts(of: batch) else { return }
    change(&counts)
    try transaction.update(ObjectID(entity: BatchRecord.entity, number: batch)) { record in
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
      try transaction.delete(ObjectID(entity: BatchRecord.entity, number: batch))
    }
  }

  private func require(_ batch: Int64) throws -> BatchCounts {
    guard let counts = try counts(of: batch) else {
      throw JobError(
        .unknownBatch, "there is no such batch", [("batch", String(batch))],
        advice: "a batch is removed with its last job")
    }
    return counts
  }

  private func counts(of batch: Int64) throws -> BatchCounts? {
    try transaction.get(ObjectID(entity: BatchRecord.entity, number: batch)).map(BatchCounts.init)
  }
}

/// The state of a batch.
struct BatchCounts {
  var isClosed: Bool
  var jobs: Int64
  var pending: Int64
  var succeeded: Int64
  let completion: JobID?
  /// True if the batch is closed and all of its jobs have ended.
  var isOver: Bool { isClosed && pending == 0 }

  init(_ record: Record) throws {
    isClosed = try record["isClosed"] == .bool(true)
    jobs = try record["jobs"].int64Value ?? 0
    pending = try record["pending"].int64Value ?? 0
    succeeded = try record["succeeded"].int64Value ?? 0
    completion = try record["completion"].int64Value.map(JobID.init)
  }
}
