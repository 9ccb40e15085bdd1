import Foundation
import Glibc

/// systemd's end of the notifications: a datagram socket that keeps what comes.
public final class NotifySocket: Sendable {
  public struct SocketError: Error { let call: String, code: Int32 }

  private let descriptor: Int32

  /// - Parameter name: A path, or `@` and a name, as in `$NOTIFY_SOCKET`.
  public init(_ name: String) throws {
    descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    var bytes = Array(name.utf8)
    if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
    // SAFETY: the names of the tests are shorter than the field.
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + bytes.count)
    // SAFETY: sockaddr_un begins as sockaddr does.
    let result = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(descriptor, $0, length) }
    }
    guard result == 0 else { throw SocketError(call: "bind", code: errno) }
    // What never comes fails the test instead of hanging it.
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  /// The lines of the next datagram; none after the end.
  public func next() throws -> [String] {
    var buffer = [UInt8](repeating: 0, count: 4_096)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count >= 0 else { throw SocketError(call: "recv", code: errno) }
    let text = String(decoding: buffer.prefix(count), as: UTF8.self)
    return text.split(separator: "\n", omittingEmptySubsequences: count == 0).map(String.init)
  }

  /// Records all lines from now on, on a separate thread.
  public func keep(in journal: Journal) {
    Thread.detachNewThread {
      while true {
        do {
          let lines = try self.next()
          if lines.isEmpty { return }
          for line in lines { journal.add(line) }
        } catch let error as SocketError where error.code == EAGAIN {
          continue
        } catch {
          return journal.add("\(error)")
        }
      }
    }
  }

  /// Nothing comes any more.
  public func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}
