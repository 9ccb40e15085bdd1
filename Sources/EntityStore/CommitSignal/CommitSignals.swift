import Dispatch
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

  /// The signal of an environment, made when it is asked for first. It lives as long as somebody
  /// has it.
  static func signal(of environment: Environment, ticker: CommitTicker) -> CommitSignal {
    known.withLock { known in
      if let signal = known[ObjectIdentifier(environment)]?.signal { return signal }
      let signal = CommitSignal(environment: environment, ticker: ticker)
      known[ObjectIdentifier(environment)] = Known(signal)
      return signal
    }
  }

  /// Called when a signal ends, by which time another may stand in its place.
  static func forget(_ signal: CommitSignal, of environment: Environment) {
    known.withLock { known in
      guard known[ObjectIdentifier(environment)]?.identity == ObjectIdentifier(signal) else {
        return
      }
      known[ObjectIdentifier(environment)] = nil
    }
  }
}

/// What makes an observer look for commits that no bell has announced.
package struct CommitTicker: Sendable {
  /// Calls the closure on the queue again and again, until the closure that it returns is called.
  let start: @Sendable (DispatchQueue, @escaping @Sendable () -> Void) -> @Sendable () -> Void

  /// A timer of Dispatch wakes two threads, so that this is one wakeup a second; half a second of
  /// leeway lets the kernel join it with others.
  static let everyTwoSeconds = CommitTicker { queue, tick in
    // SAFETY: from `activate` on it is only canceled, which Dispatch allows from any thread.
    nonisolated(unsafe) let timer = DispatchSource.makeTimerSource(queue: queue)
    timer.schedule(deadline: .now() + 2, repeating: 2, leeway: .milliseconds(500))
    timer.setEventHandler(handler: tick)
    timer.activate()
    return { timer.cancel() }
  }
}
