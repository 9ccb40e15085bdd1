import Glibc
import SystemSupport

/// A listening socket.
struct Listener: Sendable {
  let descriptor: Int32
  /// The address at which it listens; the port is not 0.
  let address: WebAddress
  /// The socket's file, if it has one.
  let file: SocketFile?

  init(_ address: WebAddress) throws(WebServerError) {
    switch address {
    case .unix(let path):
      let file = try SocketFile.listen(at: path)
      (descriptor, self.file, self.address) = (file.descriptor, file, address)
    case .tcp(let host, let port):
      (descriptor, self.address) = try listenTCP(host, port)
      file = nil
    }
  }

  static let streams =
    Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
  static let backlog: Int32 = 128
}

private func listenTCP(
  _ host: String, _ port: UInt16
) throws(WebServerError) -> (Int32, WebAddress) {
  let wanted = WebAddress.tcp(host: host, port: port)
  var hints = addrinfo()
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV
  hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
  var found: UnsafeMutablePointer<addrinfo>?
  let status = getaddrinfo(host, String(port), &hints, &found)
  // SAFETY: on success there is at least one entry; the list lives until the end of this function.
  guard status == 0, let first = found else {
    throw WebServerError(.cannotListen, "\(wanted): \(String(cString: gai_strerror(status)))")
  }
  defer { freeaddrinfo(first) }
  let descriptor = socket(first.pointee.ai_family, Listener.streams, 0)
  guard descriptor >= 0 else { throw WebServerError(.system, "socket: \(SystemError().text)") }
  // A server that is started again takes its port although old connections linger.
  var yes: Int32 = 1
  setsockopt(
    descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout.size(ofValue: yes)))
  guard bind(descriptor, first.pointee.ai_addr, first.pointee.ai_addrlen) == 0,
    listen(descriptor, Listener.backlog) == 0, let bound = boundAddress(descriptor)
  else {
    let error = SystemError()
    close(descriptor)
    throw WebServerError(.cannotListen, "\(wanted): \(error.text)")
  }
  return (descriptor, bound)
}

private func boundAddress(_ descriptor: Int32) -> WebAddress? {
  var storage = sockaddr_storage()
  var length = socklen_t(MemoryLayout.size(ofValue: storage))
  var host = [CChar](repeating: 0, count: Int(NI_MAXHOST))
  var port = [CChar](repeating: 0, count: Int(NI_MAXSERV))
  // SAFETY: a sockaddr_storage has room for every address and may be passed as a sockaddr.
  let isKnown = withUnsafeMutablePointer(to: &storage) {
    $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      getsockname(descriptor, $0, &length) == 0
        && getnameinfo(
          $0, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
          NI_NUMERICHOST | NI_NUMERICSERV) == 0
    }
  }
  guard isKnown, let number = UInt16(text(port)) else { return nil }
  return .tcp(host: text(host), port: number)
}

private func text(_ characters: [CChar]) -> String {
  String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}
