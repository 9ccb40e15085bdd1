import Glibc

/// The socket of one connection. It is closed when the last reference goes, so nobody can use a
/// descriptor that already belongs to another connection.
final class Channel: Sendable {
  enum Event { case signal, end }

  /// Which of the server's connections this is, from 1.
  let number: Int
  private let descriptor: Int32

  /// Takes over a connected socket.
  init(owning descriptor: Int32, number: Int) {
    self.number = number
    self.descriptor = descriptor
    closeOnExec(descriptor)
    // Without this, a small answer after a small answer waits 40 ms for the client's delayed ACK.
    setOption(descriptor, level: Int32(IPPROTO_TCP), TCP_NODELAY, Int32(1))
    setOption(
      descriptor, level: SOL_SOCKET, SO_RCVTIMEO,
      timeval(tv_sec: LoopbackServer.Limits.idleSeconds, tv_usec: 0))
  }

  deinit {
    close(descriptor)
  }

  /// Waits for bytes; empty at the end of the stream, after ``shutDown()``, and when the client
  /// was idle for too long.
  func receive() throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 16 << 10)
    while true {
      // SAFETY: recv writes at most `bytes.count` bytes into the array that it is lent.
      let count = recv(descriptor, &bytes, bytes.count, 0)
      if count >= 0 { return Array(bytes[..<count]) }
      switch errno {
      case EINTR: continue
      case EAGAIN: return []
      default: throw LoopbackError(code: .connectionClosed, context: systemMessage(errno))
      }
    }
  }

  /// Sends all bytes.
  func send(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { buffer in
      var sent = 0
      while sent < buffer.count {
        // SAFETY: the pointer stays within `buffer`, since `sent` is less than its count.
        // MSG_NOSIGNAL: a client that has gone is an error here, not a SIGPIPE to the process.
        let count = Glibc.send(
          descriptor, buffer.baseAddress! + sent, buffer.count - sent,
          Int32(MSG_NOSIGNAL))
        if count > 0 {
          sent += count
        } else if errno != EINTR {
          throw LoopbackError(code: .connectionClosed, context: systemMessage(errno))
        }
      }
    }
  }

  /// Ends the stream in both directions and wakes the threads that wait for the socket. Bytes that
  /// were sent before arrive.
  func shutDown() {
    _ = shutdown(descriptor, Int32(SHUT_RDWR))  // It fails only when the stream has ended.
  }

  /// Ends our side of the stream and waits for the client's end, so that a client that is still
  /// sending reads our last answer instead of a reset.
  func shutDownAfterRefusal() throws {
    _ = shutdown(descriptor, Int32(SHUT_WR))
    while try !receive().isEmpty {}
  }

  /// Waits for the signal, or for the end of the stream.
  func waitForEnd(or signal: Signal?) throws -> Event {
    let hangUp: Int32 = 0x2000  // POLLRDHUP, which Glibc's module hides behind _GNU_SOURCE.
    var entries = [(descriptor, hangUp)]
    if let signal { entries.append((signal.readable, POLLIN)) }
    let ready = try waitUntilReady(entries)
    return ready.count == 2 && ready[1] ? .signal : .end
  }
}
