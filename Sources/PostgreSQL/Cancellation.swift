import CMooringPostgreSQL
import Dispatch
import SystemSupport

/// The right to cancel what a connection is executing, for use by any thread.
///
/// The server does not know which statement is meant: it cancels the one that it is executing when
/// the request arrives, if any, whose call then throws `SQLState.queryCanceled`. The request has a
/// connection of its own, which is not encrypted.
// @unchecked Sendable: libpq allows any thread to use the pointer, which does not change.
package final class Cancellation: @unchecked Sendable {
  private let libpq: LibPQ
  private let pointer: OpaquePointer

  fileprivate init(_ libpq: LibPQ, _ pointer: OpaquePointer) {
    self.libpq = libpq
    self.pointer = pointer
  }

  // SAFETY: the pointer is ours and is freed once.
  deinit { libpq.call.PQfreeCancel(pointer) }

  /// libpq waits for the server without a deadline, so that it does so on threads of its own.
  private static let threads = BoundedThreads("mooring.postgresql.cancel", threadsMax: 4)

  /// Sends the request. When it returns, the server has received it, and may or may not have
  /// canceled something. May be called on any thread that may block.
  ///
  /// - Throws: `.connect` if the server cannot be reached; `.deadline`.
  package func cancel(until deadline: ContinuousClock.Instant) throws(PostgreSQLError) {
    let ended = DispatchSemaphore(value: 0)
    let failure = Locked<String?>(nil)
    Self.threads.submit {
      let message = self.request()
      failure.withLock { $0 = message }
      ended.signal()
    }
    let left = ContinuousClock.now.duration(to: deadline) / .seconds(1)
    guard ended.wait(timeout: .now() + left) == .success else {
      throw .deadline("sending a cancel request", isOutcomeKnown: false)
    }
    if let message = failure.withLock({ $0 }) { throw PostgreSQLError(.connect, message) }
  }

  /// - Returns: libpq's message about a failure; nil after a success.
  private func request() -> String? {
    var message = [CChar](repeating: 0, count: 256)
    // SAFETY: libpq writes at most the size that it is given, with a zero at the end.
    guard libpq.call.PQcancel(pointer, &message, Int32(message.count)) == 0 else { return nil }
    return message.withUnsafeBufferPointer { LibPQ.text($0.baseAddress, bytesMax: $0.count) }
  }
}

extension Connection {
  /// Returns the right to cancel this connection's statements, which may outlive it.
  package mutating func cancellation() throws(PostgreSQLError) -> Cancellation {
    let pointer = try ready()
    guard let handle = libpq.call.PQgetCancel(pointer) else { throw lost(wasSent: false) }
    return Cancellation(libpq, handle)
  }
}
