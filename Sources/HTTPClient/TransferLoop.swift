import Dispatch
import Foundation
import Glibc
import SystemSupport

/// The thread that owns a libcurl multi handle and runs all transfers of a transport.
///
/// Callers put transfers into the inbox and wake the thread. It alone uses ``TransferDriver``.
final class TransferLoop: Sendable {
  private struct Inbox: Sendable {
    var transfers: [Transfer] = []
    var isStopping = false
    /// Nil after the thread has ended. It is woken under the lock, so never while it is destroyed.
    var multi: MultiHandle?
  }

  private let inbox: Locked<Inbox>
  /// The group that the thread leaves when it ends.
  private let group = DispatchGroup()

  init(_ configuration: CurlTransport.Configuration) throws {
    let multi = try MultiHandle()
    inbox = Locked(Inbox(multi: multi))
    group.enter()
    let thread = Thread { [self] in
      run(TransferDriver(multi: multi, configuration: configuration))
    }
    thread.name = "mooring-http"
    thread.start()
  }

  /// Runs the transfer as soon as its host has room for it. Cancelling the task ends it.
  func perform(_ transfer: Transfer) async -> Result<HTTPResponse, HTTPError> {
    await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        transfer.continuation = continuation
        let isAccepted = inbox.withLock {
          guard !$0.isStopping else { return false }
          $0.transfers.append(transfer)
          $0.multi?.wakeUp()
          return true
        }
        if !isAccepted { transfer.cancel() }
      }
    } onCancel: {
      transfer.requestCancellation()
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
      let (transfers, isStopping) = inbox.withLock { inbox in
        defer { inbox.transfers = [] }
        return (inbox.transfers, inbox.isStopping)
      }
      driver.add(transfers)
      if isStopping { break }
      driver.cancel(where: \.isCancelled)
      driver.runUntilBlocked()
      driver.waitForActivity()
    }
    driver.cancel { _ in true }
    inbox.withLock { $0.multi = nil }
    group.leave()
  }
}

/// Blocks SIGPIPE on this thread, so that a server that closes early causes an error and does not
/// end the process. The signal goes to the thread that writes; libcurl suppresses it, the TLS
/// library does not.
private func blockBrokenPipeSignal() {
  var signals = sigset_t()
  // SAFETY: sigemptyset initializes the set. The calls fail only for signals that do not exist.
  sigemptyset(&signals)
  sigaddset(&signals, SIGPIPE)
  pthread_sigmask(SIG_BLOCK, &signals, nil)
}
