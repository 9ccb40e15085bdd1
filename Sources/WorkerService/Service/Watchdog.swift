import Dispatch
import Synchronization

/// Pings systemd for as long as the service can prove that it works.
///
/// At each interval a probe is asked, and a ping follows when it has answered true. A probe that
/// is still out is not asked twice, and nothing is pinged meanwhile: when it never answers, the
/// pings end and systemd restarts the service.
public final class Watchdog: Sendable {
  private struct State {
    var isProbing = false
    var isStopped = false
  }

  private let probe: @Sendable () async -> Bool
  private let ping: @Sendable () -> Void
  private let state = Mutex(State())
  private let timer: Timer

  /// A watchdog at rest; ``start()`` begins it.
  ///
  /// - Parameter interval: The time between two probes: half of what systemd waits for.
  /// - Parameter probe: Whether the service works, answered by doing a piece of its work.
  /// - Parameter ping: Sends the ping.
  public init(
    every interval: Duration, probe: @escaping @Sendable () async -> Bool,
    ping: @escaping @Sendable () -> Void
  ) {
    self.probe = probe
    self.ping = ping
    timer = Timer(every: interval)
  }

  deinit { timer.cancel() }

  /// Half of what systemd waits for before it ends this process.
  ///
  /// - Parameter environment: `WATCHDOG_USEC` holds the time, and `WATCHDOG_PID` the process that
  ///   is meant, if it is one only.
  /// - Returns: Nil if systemd waits for no pings of this process.
  public static func interval(environment: [String: String], process: Int32) -> Duration? {
    guard let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), microseconds > 1
    else { return nil }
    if let meant = environment["WATCHDOG_PID"], meant != String(process) { return nil }
    return .microseconds(microseconds / 2)
  }

  /// Begins the probes, the first at once. To be called once.
  public func start() {
    timer.start { [weak self] in _ = self?.tick() }
  }

  /// Ends the probes; also a probe that is out pings no more.
  public func stop() {
    timer.cancel()
    state.withLock { $0.isStopped = true }
  }

  /// Asks the probe.
  ///
  /// - Returns: What waits for its answer; nil if a probe is out, or all has been stopped.
  func tick() -> Task<Void, Never>? {
    let mayProbe = state.withLock { state in
      if state.isProbing || state.isStopped { return false }
      state.isProbing = true
      return true
    }
    guard mayProbe else { return nil }
    return Task {
      let works = await probe()
      let mayPing = state.withLock { state in
        state.isProbing = false
        return works && !state.isStopped
      }
      if mayPing { ping() }
    }
  }
}

/// A timer on a queue of its own: it fires also while the pool of tasks is busy.
private final class Timer: Sendable {
  // SAFETY: a dispatch source may be used by any thread; the type is not marked so. Only `start`
  // sets its handler, before it is activated.
  nonisolated(unsafe) private let source: any DispatchSourceTimer
  private let isStarted = Mutex(false)
  private let nanoseconds: Int

  init(every interval: Duration) {
    source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "mooring.watchdog"))
    let (seconds, attoseconds) = interval.components
    // Some 30 years, so that the product fits.
    let wholeSeconds = Int(min(seconds, 1_000_000_000))
    nanoseconds = max(1, wholeSeconds * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
  }

  func start(_ fire: @escaping @Sendable () -> Void) {
    let isFirst = isStarted.withLock { isStarted in
      defer { isStarted = true }
      return !isStarted
    }
    guard isFirst else { return }
    source.schedule(deadline: .now(), repeating: .nanoseconds(nanoseconds))
    source.setEventHandler(handler: fire)
    source.activate()
  }

  func cancel() {
    source.cancel()
    // A source that was never activated may not be released.
    start {}
  }
}
