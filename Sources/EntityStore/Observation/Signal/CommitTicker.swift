import Dispatch

/// What makes an observer look for commits that no bell has announced.
struct CommitTicker: Sendable {
  /// Calls the closure on the queue again and again, until the closure that it returns is called.
  let start: @Sendable (DispatchQueue, @escaping @Sendable () -> Void) -> @Sendable () -> Void

  /// One wakeup a second; a quarter of one as leeway lets the kernel join it with others.
  static let everySecond = CommitTicker { queue, tick in
    // SAFETY: from `activate` on it is only canceled, which Dispatch allows from any thread.
    nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + 1, repeating: 1, leeway: .milliseconds(250))
    timer.setEventHandler(handler: tick)
    timer.activate()
    return { timer.cancel() }
  }
}
