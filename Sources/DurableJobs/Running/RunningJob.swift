import EntityStore
import Foundation
import SystemSupport

/// A running attempt. The runner and the handler use it from different threads.
final class RunningJob: Sendable {
  /// The reason for a cancellation.
  enum Reason: Sendable {
    case cancelled
    case timedOut
    case stopping
  }

  private struct State {
    var reason: Reason?
    var task: Task<Void, Never>?
    var isCompleted = false
    var progress: JobProgress?
  }

  let claim: Claim
  let kind: JobKind
  let queue: QueueName
  /// The number of attempts, including this one.
  let attempt: Int
  let timeout: Duration?
  let deadline: ContinuousClock.Instant?
  let began: ContinuousClock.Instant
  /// The time for which the job was ready before its claim.
  let waited: Duration
  private let state = Locked(State())
  /// Called at the first report of progress after the last one was taken.
  private let onProgress: @Sendable () -> Void

  init(
    _ job: JobRecord, claim: Claim, began: ContinuousClock.Instant, waited: Duration,
    onProgress: @escaping @Sendable () -> Void
  ) {
    self.claim = claim
    kind = job.kind
    queue = job.queue
    attempt = Int(job.attempts)
    timeout = job.timeout.map(Duration.stored)
    deadline = timeout.map { began + $0 }
    self.began = began
    self.waited = waited
    self.onProgress = onProgress
  }

  /// Starts the handler in a task of its own.
  ///
  /// - Parameter executor: `nil` for the cooperative pool.
  func start(on executor: DispatchTasks?, _ body: @escaping @Sendable () async -> Void) {
    // Detached, so that it does not run on the runner's executor.
    let task = Task.detached(executorPreference: executor) { await body() }
    let isCancelled = state.withLock { state in
      state.task = task
      return state.reason != nil
    }
    if isCancelled { task.cancel() }
  }

  /// Cancels the attempt. The first reason counts.
  func cancel(_ reason: Reason) {
    let task = state.withLock { state in
      if state.reason == nil { state.reason = reason }
      return state.task
    }
    task?.cancel()
  }

  var reason: Reason? { state.withLock { $0.reason } }
  var isCancelled: Bool { reason != nil }

  func markCompleted() { state.withLock { $0.isCompleted = true } }
  var isCompleted: Bool { state.withLock { $0.isCompleted } }

  func report(_ progress: JobProgress) {
    let isFirst = state.withLock { state in
      defer { state.progress = progress }
      return state.progress == nil
    }
    if isFirst { onProgress() }
  }

  /// Returns the progress that is to be stored, and clears it.
  func takeProgress() -> JobProgress? {
    state.withLock { state in
      defer { state.progress = nil }
      return state.progress
    }
  }

  /// Returns the same as `takeProgress`, with the claim under which it is stored.
  func takeClaimedProgress() -> (Claim, JobProgress)? { takeProgress().map { (claim, $0) } }

  /// Returns the outcome of the attempt.
  ///
  /// - Returns: `nil` if the handler has ended the job itself.
  func outcome(
    of result: Result<Data?, any Error>, backoff: Backoff, random: () -> Double
  ) -> Outcome? {
    if isCompleted { return nil }
    func wait() -> Duration { backoff.wait(after: attempt, random: random()) }
    switch (result, reason) {
    case (.success(let output), _): return .succeeded(output)
    // Whatever a handler throws after a cancellation, the cancellation is the reason.
    case (.failure, .cancelled): return .cancelled
    case (.failure, .stopping): return .handedBack
    case (.failure, .timedOut):
      let seconds = timeout.map { $0.seconds.formatted(.number.grouping(.never)) } ?? "?"
      return .failed("took longer than \(seconds) s", wait: wait())
    case (.failure(let stop as JobStop), nil):
      switch stop.verdict {
      case .retry(let wait): return .failed(stop.reason.clipped, wait: wait)
      case .discard: return .discarded(stop.reason.clipped)
      case .snooze(let wait): return .snoozed(wait, nil)
      }
    // A full disk is not the fault of the job.
    case (.failure(let error as StoreError), nil) where error.passes:
      return .snoozed(max(wait(), Limits.retryInterval), "\(error)".clipped)
    case (.failure(let error), nil): return .failed("\(error)".clipped, wait: wait())
    }
  }
}
