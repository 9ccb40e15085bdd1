import Dispatch

/// What makes an observer look for commits that no bell has announced.
package struct CommitTicker: Sendable {
  /// Calls the closure on the queue again and again, until the closure that it returns is called.
  let start: @Sendable (DispatchQueue, @escaping @Sendable () -> Void) -> @Sendable () -> Void

  /// A timer of Dispatch wakes two threads, so that this is one wakeup a second; half a second of leeway
  /// lets the kernel join it with others.
  static let everyTwoSeconds = CommitTicker { queue, tick in
    // SAFETY: from `activate` on it is only canceled, which Dispatch allows from any thread.
    nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + 2, repeating: 2, leeway: .milliseconds(500))
    timer.setEventHandler(handler: tick)
    timer.activate()
    return { timer.cancel() }
  }
}
