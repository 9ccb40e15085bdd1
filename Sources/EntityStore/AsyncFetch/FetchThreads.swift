import Dispatch
import LMDB

/// The threads on which asynchronous fetches of a store run: few, and none while there is nothing
/// to do. Reads block on page faults, so they stay off Swift's cooperative pool and off Dispatch's
/// shared queues, which others need.
final class FetchThreads: Sendable {
  typealias Job = @Sendable () -> Void

  /// Serial queues without a target get threads of their own.
  private struct State {
    var idle: [DispatchQueue]
    var waiting: [Job] = []
    /// Of `waiting`: what has been taken from its front.
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

  private let state: Guarded<State>

  init(threadsMax: Int = Limits.fetchThreadsMax) {
    state = Guarded(
      State(idle: (1...threadsMax).map { DispatchQueue(label: "mooring.fetch.\($0)") }))
  }

  /// Runs the job when a thread is free: first come, first served. Never blocks.
  func submit(_ job: @escaping Job) {
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
}
