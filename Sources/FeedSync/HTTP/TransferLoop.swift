import Dispatch
import Foundation
import Glibc
import Synchronization

/// One thread that owns a libcurl multi handle and runs all transfers of a transport.
///
/// Callers hand exchanges over through the inbox and wake the thread. Everything else belongs to
/// the thread alone, in ``TransferDriver``.
final class TransferLoop: Sendable {
  private struct Inbox {
    var submissions: [Submission] = []
    var isStopping = false
    /// Nil once the thread has ended. It is woken under the lock, so never while it is destroyed.
    var multi: MultiHandle?
  }

  private let inbox: Mutex<Inbox>
  /// Left by the thread at its end.
  private let group = DispatchGroup()

  init(_ configuration: CurlTransport.Configuration) throws {
    let multi = try MultiHandle()
    inbox = Mutex(Inbox(multi: multi))
    group.enter()
    let thread = Thread { [self] in
      run(TransferDriver(multi: multi, configuration: configuration))
    }
    thread.name = "mooring-http"
    thread.start()
  }

  /// Runs the exchange as soon as there is a place for it. Cancelling the task ends it.
  func perform(_ exchange: Exchange) async -> Exchange.Outcome {
    let isCancelled = CancellationFlag()
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let submission = Submission(
          exchange: exchange, isCancelled: isCancelled, continuation: continuation)
        let isTaken = inbox.withLock {
          guard !$0.isStopping else { return false }
          $0.submissions.append(submission)
          $0.multi?.wakeUp()
          return true
        }
        if !isTaken { submission.cancel() }
      }
    } onCancel: {
      isCancelled.set()
      inbox.withLock { $0.multi?.wakeUp() }
    }
  }

  /// Cancels all transfers, closes all connections and waits for the thread's end.
  func stop() {
    inbox.withLock {
      $0.isStopping = true
      $0.multi?.wakeUp()
    }
    group.wait()
  }

  private func run(_ driver: TransferDriver) {
    blockBrokenPipeSignal()
    while true {
      let (submissions, isStopping) = inbox.withLock { inbox in
        defer { inbox.submissions = [] }
        return (inbox.submissions, inbox.isStopping)
      }
      driver.add(submissions)
      if isStopping { break }
      driver.removeCancelled()
      driver.runUntilBlocked()
      driver.waitForActivity()
    }
    driver.cancelAll()
    inbox.withLock { $0.multi = nil }
    group.leave()
  }
}

/// A server that closes early must be an error and not the end of the process. The signal goes to
/// the thread that writes: libcurl's own sends ask for none, those of the TLS library do not.
private func blockBrokenPipeSignal() {
  var signals = sigset_t()
  // SAFETY: sigemptyset initializes the set. The calls fail only for signals that do not exist.
  sigemptyset(&signals)
  sigaddset(&signals, SIGPIPE)
  pthread_sigmask(SIG_BLOCK, &signals, nil)
}

/// An exchange that somebody waits for.
struct Submission: Sendable {
  let exchange: Exchange
  let isCancelled: CancellationFlag
  let continuation: CheckedContinuation<Exchange.Outcome, Never>

  func finish(_ outcome: Exchange.Outcome) {
    continuation.resume(returning: outcome)
  }

  func cancel() {
    fail(HTTPError(.cancelled, exchange.url.shown))
  }

  func fail(_ error: HTTPError) {
    finish(
      Exchange.Outcome(address: nil, wireBytes: 0, duration: .zero, ending: .failure(error)))
  }
}

/// Set by a task's cancellation, read by the thread.
final class CancellationFlag: Sendable {
  private let value = Atomic(false)

  var isSet: Bool { value.load(ordering: .acquiring) }

  func set() { value.store(true, ordering: .releasing) }
}
