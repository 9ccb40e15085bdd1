import DurableJobs
import EntityStore
import Foundation
import Logging
import Synchronization

/// What a worker knows of itself, told to systemd and to the log when it changes.
///
/// Any thread may use it.
final class WorkerHealth: Sendable {
  private struct State {
    var store: Store?
    var condition = RunnerCondition.working
    var isDiskLow = false
    var isReady = false
    var isStopping = false
    var said = ""
  }

  private let notifier: ServiceNotifier?
  private let logger: Logger
  private let state = Mutex(State())

  init(_ notifier: ServiceNotifier?, _ logger: Logger) {
    self.notifier = notifier
    self.logger = logger
  }

  // MARK: What happens

  /// What kept the store from being opened is over; a runner begins as one that works.
  func opened(_ store: Store) {
    state.withLock { state in
      state.store = store
      state.condition = .working
    }
  }

  /// The probe of the watchdog must not hold a store that is to be closed.
  func closing() { state.withLock { $0.store = nil } }

  /// A runner is known to the store, and claims from here on.
  func ready() {
    let isStopping = state.withLock { state in
      state.isReady = true
      return state.isStopping
    }
    if !isStopping { tell(.ready) }
    sayHowItIs()
  }

  /// A reload is over; a start that waits for the store is not.
  func reloaded() {
    if state.withLock({ $0.isReady }) { ready() }
  }

  func reloading() { tell(.reloading) }

  func stopping(within bound: Duration) {
    state.withLock { $0.isStopping = true }
    tell(.stopping)
    tell(.extendTimeout(bound))
    status("stopping: waiting for running jobs, at most \(bound.components.seconds) s")
  }

  func condition(_ condition: RunnerCondition) {
    state.withLock { $0.condition = condition }
    sayHowItIs()
    askForTimeToStart()
  }

  /// systemd would give up on a start that takes long, as one on a full disk does. To be called again
  /// and again meanwhile.
  func askForTimeToStart() {
    let isWaiting = state.withLock { state in
      guard case .blocked = state.condition else { return false }
      return !state.isReady && !state.isStopping
    }
    if isWaiting { tell(.extendTimeout(.seconds(60))) }
  }

  /// - Returns: Whether that changes if the disk is low.
  func note(freeBytes: Int, reserve: Int64) -> Bool {
    let isLow = Int64(freeBytes) < reserve
    let isNews = state.withLock { state in
      defer { state.isDiskLow = isLow }
      return state.isDiskLow != isLow
    }
    if isNews { sayHowItIs() }
    return isNews
  }

  var isDiskLow: Bool { state.withLock { $0.isDiskLow } }

  func status(_ text: String) { tell(.status(text)) }

  // MARK: The watchdog

  /// Whether the writer of the store answers. That it says "not now", as on a full disk or while another
  /// process writes for long, is an answer: to be started again would not help.
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

  func ping() { tell(.watchdog) }

  // MARK: Telling

  private func sayHowItIs() {
    let (text, isNews, isBad) = state.withLock { state in
      let (text, isBad) = Self.text(state)
      defer { state.said = text }
      return (text, text != state.said, isBad)
    }
    guard isNews else { return }
    tell(.status(text))
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

  private func tell(_ fact: ServiceState) {
    guard let notifier else { return }
    do {
      try notifier.notify(fact)
    } catch {
      logger.warning("systemd cannot be told", metadata: ["error": "\(error)"])
    }
  }
}
