import DurableJobs
import EntityStore
import Foundation
import Logging
import SystemSupport

/// The condition of a worker, reported to systemd and to the log when it changes. Any thread may
/// use it.
final class WorkerHealth: Sendable {
  private struct State {
    var store: Store?
    var condition = RunnerCondition.working
    var isDiskLow = false
    var isReady = false
    var isStopping = false
    var status = ""
  }

  private let notifier: ServiceNotifier?
  private let logger: Logger
  private let state = Locked(State())

  init(_ notifier: ServiceNotifier?, _ logger: Logger) {
    self.notifier = notifier
    self.logger = logger
  }

  // MARK: Events

  /// The store was opened. A runner begins in the condition `working`.
  func opened(_ store: Store) {
    state.withLock { state in
      state.store = store
      state.condition = .working
    }
  }

  /// Releases the store, so that the probe of the watchdog does not keep it open.
  func closing() { state.withLock { $0.store = nil } }

  /// A runner is registered and begins to claim.
  func ready() {
    let isStopping = state.withLock { state in
      state.isReady = true
      return state.isStopping
    }
    if !isStopping { notify(.ready) }
    reportStatus()
  }

  /// A reload has ended. While the start still waits for the store, this does not report `ready`.
  func reloaded() {
    if state.withLock({ $0.isReady }) { ready() }
  }

  func reloading() { notify(.reloading) }

  func stopping(within bound: Duration) {
    state.withLock { $0.isStopping = true }
    notify(.stopping)
    notify(.extendTimeout(bound))
    status("stopping: waiting for running jobs, at most \(bound.components.seconds) s")
  }

  func condition(_ condition: RunnerCondition) {
    state.withLock { $0.condition = condition }
    reportStatus()
    extendStart()
  }

  /// Asks systemd for more time while the start is blocked, as by a full disk. Call it repeatedly
  /// during the start.
  func extendStart() {
    let isWaiting = state.withLock { state in
      guard case .blocked = state.condition else { return false }
      return !state.isReady && !state.isStopping
    }
    if isWaiting { notify(.extendTimeout(.seconds(60))) }
  }

  /// - Returns: True if the disk has become low, or no longer is.
  func update(freeBytes: Int, reserve: Int64) -> Bool {
    let isLow = Int64(freeBytes) < reserve
    let isNews = state.withLock { state in
      defer { state.isDiskLow = isLow }
      return state.isDiskLow != isLow
    }
    if isNews { reportStatus() }
    return isNews
  }

  var isDiskLow: Bool { state.withLock { $0.isDiskLow } }

  func status(_ text: String) { notify(.status(text)) }

  // MARK: The watchdog

  /// Returns true if the writer of the store answers. An error that passes is an answer, too, as on
  /// a full disk or while another process writes for long: a restart would not help.
  func writerAnswers() async -> Bool {
    guard let store = state.withLock({ $0.store }) else { return true }
    do {
      try await store.write { _ in }
      return true
    } catch let error as StoreError {
      return error.passes || error.code == .closed
    } catch {
      return false
    }
  }

  func ping() { notify(.watchdog) }

  // MARK: Reporting

  private func reportStatus() {
    let (text, isNews, isBad) = state.withLock { state in
      let (text, isBad) = Self.text(state)
      defer { state.status = text }
      return (text, text != state.status, isBad)
    }
    guard isNews else { return }
    notify(.status(text))
    if isBad { logger.error("\(text)") } else { logger.info("\(text)") }
  }

  private static func text(_ state: State) -> (String, isBad: Bool) {
    if case .blocked(let why) = state.condition { return ("paused: \(why)", true) }
    if state.isDiskLow { return ("paused: the disk is nearly full", true) }
    if case .stuck(let count) = state.condition {
      return ("working, but \(count) cancelled jobs do not end", true)
    }
    return ("working", false)
  }

  private func notify(_ newState: ServiceState) {
    guard let notifier else { return }
    do {
      try notifier.notify(newState)
    } catch {
      logger.warning("systemd cannot be notified", metadata: ["error": "\(error)"])
    }
  }
}
