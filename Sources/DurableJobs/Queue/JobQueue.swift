import EntityModel
public import EntityStore
import Foundation

/// Enqueues, observes and controls the jobs of a store.
///
/// A job is a record of the system entity `_Job`, so it is enqueued, makes progress and ends in the
/// transactions of the data that it is about. Open the store with `.jobs` among its migrations.
///
/// ```swift
/// let queue = JobQueue(store)
/// let handle = try await queue.enqueue(FetchArtwork(episode: 12))
/// for try await status in handle.updates { print(status.progress.fraction ?? 0) }
/// let output = try await handle.value
/// ```
public struct JobQueue: Sendable {
  public let store: Store

  public init(_ store: Store) { self.store = store }

  // MARK: Enqueuing

  /// Enqueues a job and returns after its durable commit.
  ///
  /// To enqueue in the transaction of other changes, use `WriteTransaction.enqueue`.
  ///
  /// - Parameter change: Changes the policy of the kind for this job.
  /// - Throws: `badPayload`, `invalidRequest`; `StoreError`.
  @discardableResult
  public func enqueue<J: Job>(
    _ job: J, _ change: (inout JobRequest) -> Void = { _ in }
  ) async throws -> JobHandle<J> {
    var request = try JobRequest(job)
    change(&request)
    return JobHandle(id: try await enqueue(request).id, store: store)
  }

  /// Enqueues a request and returns after its durable commit. Calls at the same time share a
  /// commit.
  @discardableResult
  public func enqueue(_ request: JobRequest) async throws -> EnqueuedJob {
    try await store.write(author: "jobs", isRepeatable: true) {
      try JobTable($0).enqueue(request)
    }
  }

  /// Returns a handle for a job that was enqueued before, maybe by another process.
  public func handle<J: Job>(_ id: JobID, as type: J.Type = J.self) -> JobHandle<J> {
    JobHandle(id: id, store: store)
  }

  // MARK: Reading

  /// Returns the status of a job, or `nil` if the job does not exist.
  public func status(_ id: JobID) throws -> JobStatus? {
    try store.read { try JobRows(reading: $0).job(id).map(JobStatus.init) }
  }

  /// Returns the existing job with the unique key of a job, or `nil` if there is none or the job
  /// has no key.
  public func holder<J: Job>(of job: J) throws -> JobID? {
    guard let key = job.uniqueKey else { return nil }
    return try store.read { try JobRows(reading: $0).holder(ofUniqueKey: "\(J.kind):\(key)") }
  }

  /// Returns the newest jobs that match the filter, or, if it names only states that are not
  /// finished, the next ones.
  public func list(_ filter: JobFilter = JobFilter()) throws -> [JobStatus] {
    try store.read { try JobRows(reading: $0).list(filter).map(JobStatus.init) }
  }

  /// Returns the last attempts of a job, without those that succeeded, oldest first.
  public func attempts(of id: JobID) throws -> [JobAttempt] {
    try store.read { try JobRows(reading: $0).attempts(of: id) }
  }

  /// Returns the registered runners.
  public func runners() throws -> [JobRunnerStatus] {
    try store.read { try JobRows(reading: $0).runners(of: store) }
  }

  // MARK: Control

  /// Cancels a job. A waiting job has ended when this returns; for a running one the cancellation
  /// is requested.
  ///
  /// - Returns: The new state.
  /// - Throws: `unknownJob`; `wrongState` if it has ended.
  @discardableResult
  public func cancel(_ id: JobID) async throws -> JobState {
    try await change { try $0.cancel(id) }
  }

  /// Makes a job ready that waits for its time or has ended without success, with all of its
  /// attempts. The job does not take its unique key again. A completion job that was cancelled
  /// before its group has ended waits for the group again.
  ///
  /// - Returns: The new state: `ready` or `blocked`.
  /// - Throws: `unknownJob`, `wrongState`.
  @discardableResult
  public func retry(_ id: JobID) async throws -> JobState {
    try await change { try $0.retry(id) }
  }

  /// Pauses a queue: no more of its jobs are claimed. Running attempts continue.
  ///
  /// - Returns: `false` if the queue was paused.
  @discardableResult
  public func pause(_ queue: QueueName) async throws -> Bool {
    try await change { try $0.setPaused(true, queue) }
  }

  /// Resumes a paused queue.
  ///
  /// - Returns: `false` if the queue was not paused.
  @discardableResult
  public func resume(_ queue: QueueName) async throws -> Bool {
    try await change { try $0.setPaused(false, queue) }
  }

  /// Pauses a queue and waits until none of its jobs is running.
  public func drain(_ queue: QueueName) async throws {
    try await pause(queue)
    let commits = try store.commits.observe()
    var seen = 0
    while true {
      seen = try await commits.next(after: seen)
      var filter = JobFilter()
      filter.states = [.running]
      filter.queues = [queue]
      filter.limit = 1
      if try list(filter).isEmpty { return }
    }
  }

  /// Returns the paused queues by name.
  public func pausedQueues() throws -> [QueueName] {
    try store.read { try pausedQueues(in: $0) }
  }

  package func pausedQueues(in transaction: ReadTransaction) throws -> [QueueName] {
    try JobRows(reading: transaction).pausedQueues().sorted()
  }

  /// Removes the jobs whose retention is over, and aggregates that are older than a week.
  ///
  /// - Parameter progress: Called after each commit with the number of removed jobs.
  /// - Returns: The number of removed jobs.
  @discardableResult
  public func prune(progress: @Sendable (Int) -> Void = { _ in }) async throws -> Int {
    var count = 0
    while true {
      let pruned = try await change { try $0.prune() }
      count += pruned
      progress(count)
      if pruned < Limits.movesPerTransactionMax { break }
      try Task.checkCancellation()
    }
    while try await change({ try $0.pruneAggregates() }) == Limits.movesPerTransactionMax {}
    return count
  }

  private func change<R: Sendable>(
    _ body: @escaping @Sendable (JobTable) throws -> R
  ) async throws -> R {
    try await store.write(author: "jobs") { transaction in
      let table = try JobTable(transaction)
      let result = try body(table)
      try table.addAggregates()
      return result
    }
  }
}
