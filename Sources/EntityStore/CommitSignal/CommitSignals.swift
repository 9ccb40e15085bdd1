package import Dispatch
import LMDB
import SystemSupport

/// The signals of the environments that this process has open.
enum CommitSignals {
  private final class Known: Sendable {
    weak let signal: CommitSignal?
    let identity: ObjectIdentifier

    init(_ signal: CommitSignal) {
      self.signal = signal
      identity = ObjectIdentifier(signal)
    }
  }

  private static let known = Locked<[ObjectIdentifier: Known]>([:])

  /// Returns the signal of an environment; creates it on the first call. It lives as long as there
  /// is a reference to it.
  static func signal(of environment: Environment, timer: PollTimer) -> CommitSignal {
    known.withLock { known in
      if let signal = known[ObjectIdentifier(environment)]?.signal { return signal }
      let signal = CommitSignal(environment: environment, timer: timer)
      known[ObjectIdentifier(environment)] = Known(signal)
      return signal
    }
  }

  /// Removes a signal when it ends. By then another one may have replaced it, which stays.
  static func forget(_ signal: CommitSignal, of environment: Environment) {
    known.withLock { known in
      guard known[ObjectIdentifier(environment)]?.identity == ObjectIdentifier(signal) else {
        return
      }
      known[ObjectIdentifier(environment)] = nil
    }
  }
}

/// The timer by which an observer finds commits without a notification.
package struct PollTimer: Sendable {
  /// Calls the closure on the queue repeatedly, until the returned closure is called.
  let start: @Sendable (DispatchQueue, @escaping @Sendable () -> Void) -> @Sendable () -> Void

  /// - Parameter start: Calls the closure, on the queue or on a thread of its own, repeatedly and
  ///   until the closure that it returns is called.
  package init(
    start:
      @escaping @Sendable (DispatchQueue, @escaping @Sendable () -> Void) -> @Sendable () -> Void
  ) {
    self.start = start
  }

  /// The timer with an interval of two seconds. A Dispatch timer wakes two threads, so that this is
  /// one wakeup a second; half a second of leeway lets the kernel combine it with others.
  static let everyTwoSeconds = PollTimer { queue, tick in
    // SAFETY: from `activate` on it is only canceled, which Dispatch allows from any thread.
    nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + 2, repeating: 2, leeway: .milliseconds(500))
    timer.setEventHandler(handler: tick)
    timer.activate()
    return { timer.cancel() }
  }
}
