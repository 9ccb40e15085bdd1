import Dispatch
import LMDB

/// A few threads for work that blocks, and none while there is nothing to do.
///
/// What blocks stays off Swift's cooperative pool, of which each blocked thread is one less for
/// everybody, and off Dispatch's shared queues: on Linux those answer blocked workers only once a second
/// with one thread more, and grow up to 255 of them (libdispatch, event/workqueue.c). A serial queue
/// without a target has a thread of its own, so as many queues as there may be threads bound them.
package final class BoundedThreads: Sendable {
  package typealias Job = @Sendable () -> Void

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

  /// - Parameter label: What the threads are called by debuggers.
  package init(_ label: String, threadsMax: Int) {
    state = Guarded(
      State(idle: (0..<max(1, threadsMax)).map { DispatchQueue(label: "\(label).\($0)") }))
  }

  /// Runs the job when a thread is free: first come, first served. Never blocks.
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
}
