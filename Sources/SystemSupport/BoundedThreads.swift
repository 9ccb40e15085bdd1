import Dispatch

/// A bounded number of threads for work that blocks. Threads exist only while there is work.
///
/// Blocking work must not run on Swift's cooperative pool, which loses a thread with each call that
/// blocks, nor on Dispatch's shared queues: on Linux those add one thread a second while workers
/// are blocked, up to 255 (libdispatch, event/workqueue.c). A serial queue without a target has a
/// thread of its own, so that the number of queues bounds the number of threads.
package final class BoundedThreads: Sendable {
  package typealias Job = @Sendable () -> Void

  private struct State {
    var idle: [DispatchQueue]
    var waiting: [Job] = []
    /// The number of jobs at the front of `waiting` that were started.
    var taken = 0

    mutating func nextJob() -> Job? {
      guard taken < waiting.count else { return nil }
      defer {
        taken += 1
        if taken == waiting.count { (waiting, taken) = ([], 0) }
      }
      return waiting[taken]
    }
  }

  private let state: Locked<State>

  /// Creates the threads' queues; no thread is started.
  ///
  /// - Parameter label: The name of the threads in debuggers.
  package init(_ label: String, threadsMax: Int) {
    state = Locked(
      State(idle: (0..<max(1, threadsMax)).map { DispatchQueue(label: "\(label).\($0)") }))
  }

  /// Runs the job when a thread is free, in the order of the calls. Never blocks.
  package func submit(_ job: @escaping Job) {
    let free = state.withLock { state in
      state.waiting.append(job)
      return state.idle.popLast()
    }
    if let free { free.async { self.runJobs(on: free) } }
  }

  private func runJobs(on queue: DispatchQueue) {
    while let job = nextJob(orIdle: queue) { job() }
  }

  private func nextJob(orIdle queue: DispatchQueue) -> Job? {
    state.withLock { state in
      let job = state.nextJob()
      if job == nil { state.idle.append(queue) }
      return job
    }
  }

  /// Runs a closure that blocks, and suspends the caller until the closure has returned.
  package func run<R: Sendable>(_ body: @escaping @Sendable () throws -> R) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      submit { continuation.resume(with: Result { try body() }) }
    }
  }
}
