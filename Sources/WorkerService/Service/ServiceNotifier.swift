import Glibc

/// Reports the state of the service to systemd by the protocol of sd_notify(3): one datagram to the
/// socket that `$NOTIFY_SOCKET` names.
///
/// Any thread may use it. The socket is created once, so that a process without free descriptors
/// can still send watchdog pings.
public final class ServiceNotifier: Sendable {
  private let descriptor: Int32
  private let address: SocketAddress

  /// - Returns: `nil` if the variable is absent or empty.
  /// - Throws: ``NotificationError`` if the variable names no valid socket, or none can be created.
  public init?(environment: [String: String]) throws(NotificationError) {
    guard let name = environment["NOTIFY_SOCKET"], !name.isEmpty else { return nil }
    guard let address = SocketAddress(name) else {
      throw NotificationError(
        variable: "NOTIFY_SOCKET names no socket that can be used here: \"\(name)\"; "
          + "it is an absolute path or @ and a name, of up to 107 bytes")
    }
    // SOCK_CLOEXEC is a case of an enumeration, and its type's raw value is unsigned.
    let kind = Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue)
    descriptor = socket(AF_UNIX, kind, 0)
    self.address = address
    guard descriptor >= 0 else { throw NotificationError(systemError: errno, "socket") }
    limitWaiting()
  }

  deinit { if descriptor >= 0 { close(descriptor) } }

  /// Sends all states in one datagram.
  ///
  /// - Throws: ``NotificationError`` if systemd does not accept the datagram within a second.
  public func notify(_ states: ServiceState...) throws(NotificationError) {
    let message = Array(states.map(\.assignment).joined(separator: "\n").utf8)
    while true {
      let sent = address.withPointer { pointer, length in
        // SAFETY: both buffers live until the call returns.
        message.withUnsafeBytes {
          sendto(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL), pointer, length)
        }
      }
      if sent >= 0 { return }
      guard errno == EINTR else { throw NotificationError(systemError: errno, "sendto") }
    }
  }

  /// Sets a timeout of one second, so that a systemd that hangs does not block the service.
  private func limitWaiting() {
    var second = timeval(tv_sec: 1, tv_usec: 0)
    // SAFETY: the system copies the value before the call returns. The option exists for every
    // socket, so the call cannot fail.
    _ = withUnsafeBytes(of: &second) {
      setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, $0.baseAddress, socklen_t($0.count))
    }
  }
}

/// The error of a notification that could not be sent to systemd.
public struct NotificationError: Error, Sendable, CustomStringConvertible {
  /// The problem in one line.
  public let description: String
  /// True if the variable is wrong, false if a system call has failed.
  public let isOfVariable: Bool

  init(variable description: String) {
    self.description = description
    isOfVariable = true
  }

  init(systemError: Int32, _ call: String) {
    // SAFETY: strerror returns a NUL-terminated string, which is copied at once.
    description = "systemd cannot be notified: \(call): \(String(cString: strerror(systemError)))"
    isOfVariable = false
  }
}

/// The address of a Unix domain socket.
private struct SocketAddress: Sendable {
  private let address: sockaddr_un
  private let length: socklen_t

  /// - Parameter name: A path, or `@` and a name that is not in the file system.
  init?(_ name: String) {
    var bytes = Array(name.utf8)
    let isAbstract = bytes.first == UInt8(ascii: "@")
    guard isAbstract || bytes.first == UInt8(ascii: "/"), bytes.count > 1 else { return nil }
    // An abstract name begins with a zero byte and needs none at its end.
    if isAbstract { bytes[0] = 0 } else { bytes.append(0) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    guard bytes.count <= MemoryLayout.size(ofValue: address.sun_path) else { return nil }
    // SAFETY: the count is at most the size of the field.
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
    let start = MemoryLayout<sockaddr_un>.offset(of: \.sun_path) ?? 2
    self.address = address
    length = socklen_t(start + bytes.count)
  }

  func withPointer<R>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> R) -> R {
    // SAFETY: sockaddr_un begins as sockaddr does, and the pointer is used in the closure only.
    withUnsafePointer(to: address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
    }
  }
}
