import Glibc

/// The listening socket.
final class Listener: Sendable {
  let port: UInt16
  private let descriptor: Int32

  init(port: UInt16) throws {
    let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { throw cannotListen(port) }
    self.descriptor = descriptor
    // A server that is started again takes its port although old connections linger.
    setOption(descriptor, level: SOL_SOCKET, SO_REUSEADDR, Int32(1))
    do {
      self.port = try bindAndListen(descriptor, port: port)
    } catch {
      close(descriptor)
      throw error
    }
  }

  deinit {
    close(descriptor)
  }

  /// Waits for a connection, which gets the number; nil after ``shutDown()``.
  func accept(number: Int) throws -> Channel? {
    while true {
      let connected = Glibc.accept(descriptor, nil, nil)
      if connected >= 0 { return Channel(owning: connected, number: number) }
      switch errno {
      case EINTR, ECONNABORTED: continue  // The client has gone before its turn.
      case EINVAL: return nil  // Linux says so once the listening socket is shut down.
      default: throw systemError("accept")
      }
    }
  }

  /// Refuses new connections and wakes ``accept(number:)``.
  func shutDown() {
    _ = shutdown(descriptor, Int32(SHUT_RDWR))
  }
}

private func bindAndListen(_ descriptor: Int32, port: UInt16) throws -> UInt16 {
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_port = port.bigEndian
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  // SAFETY: a sockaddr_in may be passed as a sockaddr, as the socket API is made; `length` is its
  // size, and the calls keep no pointer.
  let isBound = withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, length) == 0 && listen(descriptor, 512) == 0
        && getsockname(descriptor, $0, &length) == 0
    }
  }
  guard isBound else { throw cannotListen(port) }
  return UInt16(bigEndian: address.sin_port)
}

private func cannotListen(_ port: UInt16) -> LoopbackError {
  LoopbackError(code: .cannotListen, context: "port \(port): \(systemMessage(errno))")
}
