import EntityModel
public import EntityStore
import Foundation

/// The jobs of a store: to enqueue them, to follow them, to steer them.
///
/// A job is a record of the system entity `_Job`; so it is enqueued, makes progress and ends in the
/// transactions of the data that it is about. The store is opened with `.jobs` among its migrations.
///
/// ```swift
/// let queue = JobQueue(store)
/// let handle = try await queue.enqueue(FetchArtwork(episode: 12))
/// for try await status in handle.updates { print(status.progress.fraction ?? 0) }
/// let output = try await handle.value
/// ```
public struct JobQueue: Sendable {
  public let store: Store
  private let group: EnqueueGroup

  public init(_ store: Store) {
    self.store = store
    group = EnqueueGroup(store)
  }

  // MARK: Enqueuing

  /// Enqueues a job and returns after the durable commit.
  ///
  /// To enqueue in the transaction of other changes, use `WriteTransaction.enqueue`.
  ///
  /// - Parameter change: What of the kind's policy is different for this one.
  /// - Throws: `badPayload`, `invalidRequest`; `StoreError`.
  @discardableResult
  public func enqueue<J: Job>(
    _ job: J, _ change: (inout JobRequest) -> Void = { _ in }
  ) async throws -> JobHandle<J> {
    var request = try JobRequest(job)
    change(&request)
    return JobHandle(id: try await enqueue(request).id, store: store)
  }

  /// Tasks that enqueue at the same time share a commit, and through one queue a transaction too.
  @discardableResult
  public func enqueue(_ request: JobRequest) async throws -> EnqueuedJob {
    try await group.enqueue(request)
  }

  /// Follows a job that was enqueued before, maybe by another process.
  public func handle<J: Job>(_ id: JobID, as type: J.Type = J.self) -> JobHandle<J> {
    JobHandle(id: id, store: store)
  }

  // MARK: Looking

  /// - Returns: `nil` if there is no such job, or none any more.
  public func status(_ id: JobID) throws -> JobStatus? {
    try store.read { try JobRows(reading: $0).job(id).map(JobStatus.init) }
  }

  /// The job that keeps another one with the same unique key out; `nil` if there is none, or the job has
  /// no such key.
  public func holder<J: Job>(of job: J) throws -> JobID? {
    guard let key = job.uniqueKey else { return nil }
    return try store.read { try JobRows(reading: $0).holder(ofUniqueKey: "\(J.kind):\(key)") }
  }

  /// The newest jobs that the filter names; of states that are not finished, those whose turn comes next.
  public func list(_ filter: JobFilter = JobFilter()) throws -> [JobStatus] {
    try store.read { try JobRows(reading: $0).list(filter).map(JobStatus.init) }
  }

  /// The attempts of a job that did not end well, of the last ones.
  public func attempts(of id: JobID) throws -> [JobAttempt] {
    try store.read { try JobRows(reading: $0).attempts(of: id) }
  }

  /// The runners that have registered, and whether they live.
  public func runners() throws -> [JobRunnerStatus] {
    try store.read { try JobRows(reading: $0).runners(of: store) }
  }

  // MARK: Steering

  /// Cancels a job: one that waits has ended when this returns; one that runs is told to.
  ///
  /// - Returns: The state it is in.
  /// - Throws: `unknownJob`; `wrongState` if it has ended.
  @discardableResult
  public func cancel(_ id: JobID) async throws -> JobState {
    try await change { try $0.cancel(id) }
  }

  /// Lets a job run at once that waits for its time or has ended without success, with all its attempts
  /// anew. Its unique key it does not take again. A completion job that was cancelled while it waited for
  /// its batch waits for it again.
  ///
  /// - Returns: The state it is in: `ready` or `blocked`.
  /// - Throws: `unknownJob`, `wrongState`.
  @discardableResult
  public func retry(_ id: JobID) async throws -> JobState {
    try await change { try $0.retry(id) }
  }

  /// No job of the queue is claimed any more; what runs goes on.
  ///
  /// - Returns: `false` if it was paused already.
  @discardableResult
  public func pause(_ queue: QueueName) async throws -> Bool {
    try await change { try $0.setPaused(true, queue) }
  }

  /// - Returns: `false` if it was not paused.
  @discardableResult
  public func resume(_ queue: QueueName) async throws -> Bool {
    try await change { try $0.setPaused(false, queue) }
  }

  /// Pauses a queue and waits until none of its jobs runs.
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

  /// The queues that are paused.
  public func pausedQueues() throws -> [QueueName] {
    try store.read { try JobRows(reading: $0).pausedQueues().sorted() }
  }

  /// Removes the jobs whose retention is over, and figures that are older than a week.
  ///
  /// - Parameter progress: Called after each commit, with how many are gone.
  /// - Returns: How many jobs.
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
    while try await change({ try $0.pruneFigures() }) == Limits.movesPerTransactionMax {}
    return count
  }

  private func change<R: Sendable>(
    _ body: @escaping @Sendable (JobTable) throws -> R
  ) async throws -> R {
    try await store.write(author: "jobs") { transaction in
      let table = try JobTable(transaction)
      let result = try body(table)
      try table.settle()
      return result
    }
  }
}
