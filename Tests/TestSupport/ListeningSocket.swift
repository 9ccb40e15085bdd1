import Glibc

/// Returns a socket that listens at a free port of this machine, and the port.
public func listeningSocket() throws -> (descriptor: Int32, port: UInt16) {
  let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  // SAFETY: a sockaddr_in may be passed as a sockaddr; `length` is its size, and nothing is kept.
  let isBound = withUnsafeMutablePointer(to: &address) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(descriptor, $0, length) == 0 && listen(descriptor, 4) == 0
        && getsockname(descriptor, $0, &length) == 0
    }
  }
  guard isBound else { throw SocketError(number: errno) }
  return (descriptor, UInt16(bigEndian: address.sin_port))
}

/// Returns a port that was free when it was tested.
public func freePort() throws -> UInt16 {
  let (descriptor, port) = try listeningSocket()
  close(descriptor)
  return port
}

public struct SocketError: Error, CustomStringConvertible {
  let number: Int32

  public var description: String { String(cString: strerror(number)) }
}
