import Dispatch
import Synchronization
import SystemSupport

/// Pings systemd while the service works.
///
/// At each interval a probe is called, and a ping is sent when it has returned true. No second
/// probe is called while one is running: if it never returns, the pings end and systemd restarts
/// the service.
public final class Watchdog: Sendable {
  private struct State {
    var isProbing = false
    var isStopped = false
  }

  private let probe: @Sendable () async -> Bool
  private let ping: @Sendable () -> Void
  private let state = Locked(State())
  private let timer: Timer

  /// Creates a watchdog that is not started.
  ///
  /// - Parameter interval: The time between two probes: half of systemd's watchdog time.
  /// - Parameter probe: Does a piece of the service's work and returns true if that succeeds.
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

  /// Returns half of the time after which systemd ends this process if it gets no pings.
  ///
  /// - Parameter environment: `WATCHDOG_USEC` is the time, and `WATCHDOG_PID`, if it is set, the
  ///   only process that is watched.
  /// - Returns: `nil` if systemd expects no pings of this process.
  public static func interval(environment: [String: String], process: Int32) -> Duration? {
    guard let microseconds = environment["WATCHDOG_USEC"].flatMap({ Int64($0) }), microseconds > 1
    else { return nil }
    if let meant = environment["WATCHDOG_PID"], meant != String(process) { return nil }
    return .microseconds(microseconds / 2)
  }

  /// Starts the probes, the first at once. Call it once.
  public func start() {
    timer.start { [weak self] in _ = self?.tick() }
  }

  /// Ends the probes. A probe that is running sends no ping.
  public func stop() {
    timer.cancel()
    state.withLock { $0.isStopped = true }
  }

  /// Starts a probe.
  ///
  /// - Returns: The task of the probe; `nil` if one is running or the watchdog was stopped.
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

/// A timer on a queue of its own, which fires even while the cooperative pool is busy.
private final class Timer: Sendable {
  // SAFETY: a dispatch source may be used by any thread, but its type is not marked `Sendable`.
  // Only
  // `start` sets its handler, before it is activated.
  nonisolated(unsafe) private let source: any DispatchSourceTimer
  private let isStarted = Atomic(false)
  private let nanoseconds: Int

  init(every interval: Duration) {
    source = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "mooring.watchdog"))
    let (seconds, attoseconds) = interval.components
    // At most some 30 years, so that the product does not overflow.
    let wholeSeconds = Int(min(seconds, 1_000_000_000))
    nanoseconds = max(1, wholeSeconds * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
  }

  func start(_ fire: @escaping @Sendable () -> Void) {
    if isStarted.exchange(true, ordering: .acquiringAndReleasing) { return }
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
