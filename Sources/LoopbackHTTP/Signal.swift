import Glibc
import Synchronization

/// A one-way switch between threads: a handler holds its answer back until a test fires it.
public final class Signal: Sendable {
  /// The end of a pipe that becomes readable with the signal, so that a wait can watch the signal
  /// and a socket with one `poll`. Nobody reads the byte: the signal stays fired.
  let readable: Int32
  private let writable: Int32
  private let isFired = Atomic(false)

  /// - Throws: ``LoopbackError`` with `.system` when the process has no descriptors left.
  public init() throws {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw systemError("pipe") }
    ends.forEach(closeOnExec)
    (readable, writable) = (ends[0], ends[1])
  }

  deinit {
    close(readable)
    close(writable)
  }

  /// Fires the signal for everyone who waits now or later. Further calls do nothing.
  public func fire() {
    guard !isFired.exchange(true, ordering: .relaxed) else { return }
    var byte: UInt8 = 1
    // One byte always fits into an empty pipe, and its reader lives as long as `self`.
    while write(writable, &byte, 1) < 0, errno == EINTR {}
  }

  /// Blocks the calling thread until the signal is fired. Not for Swift's cooperative threads.
  public func wait() throws {
    _ = try waitUntilReady([(readable, POLLIN)])
  }
}
