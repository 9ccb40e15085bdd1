import Glibc

@testable import WebServer

/// A client that sends and reads bytes, so that the server is not tested by an HTTP library that
/// forgives. What never comes fails the test instead of hanging it.
final class RawClient {
  struct Failure: Error { let call: String, number: Int32 }

  struct Response {
    let status: Int
    let head: String
    let body: String

    func header(_ name: String) -> String? {
      let prefix = name.lowercased() + ": "
      return head.split(separator: "\r\n").first { $0.lowercased().hasPrefix(prefix) }
        .map { String($0.dropFirst(prefix.count)) }
    }
  }

  private let descriptor: Int32
  private var unread: [UInt8] = []

  init(_ address: WebAddress) throws {
    switch address {
    case .unix(let path):
      descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      let path = SocketPath(path)!
      guard path.with({ connect(descriptor, $0, $1) }) == 0 else { throw Self.failure("connect") }
    case .tcp(_, let port):
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = port.bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      // SAFETY: a sockaddr_in may be passed as a sockaddr of its size.
      let result = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      guard result == 0 else { throw Self.failure("connect") }
    }
    var patience = timeval(tv_sec: 60, tv_usec: 0)
    setsockopt(
      descriptor, SOL_SOCKET, SO_RCVTIMEO, &patience, socklen_t(MemoryLayout<timeval>.size))
  }

  deinit { close(descriptor) }

  private static func failure(_ call: String) -> Failure { Failure(call: call, number: errno) }

  func send(_ text: String) throws { try send(Array(text.utf8)) }

  func send(_ bytes: [UInt8]) throws {
    // SAFETY: the array's bytes are lent for the call.
    let count = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    guard count == bytes.count else { throw Self.failure("send") }
  }

  func get(_ target: String, method: String = "GET", _ headers: String = "Host: h\r\n") throws {
    try send("\(method) \(target) HTTP/1.1\r\n\(headers)\r\n")
  }

  func post(_ target: String, _ form: String, _ headers: String = "Host: h\r\n") throws {
    try send(
      "POST \(target) HTTP/1.1\r\n\(headers)Content-Length: \(form.utf8.count)\r\n"
        + "Content-Type: application/x-www-form-urlencoded\r\n\r\n\(form)")
  }

  /// Reads a response whose body has a length.
  func response(hasBody: Bool = true) throws -> Response {
    let head = try read(until: "\r\n\r\n")
    let status = head.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
    let bare = Response(status: status, head: head, body: "")
    let length = hasBody ? bare.header("content-length").flatMap { Int($0) } ?? 0 : 0
    while unread.count < length { guard try receive() else { throw Self.failure("end") } }
    defer { unread.removeFirst(length) }
    return Response(
      status: status, head: head, body: String(decoding: unread.prefix(length), as: UTF8.self))
  }

  /// Reads the text up to and with `end`.
  func read(until end: String) throws -> String {
    let end = Array(end.utf8)
    var searched = 0
    while true {
      if let range = unread[searched...].firstRange(of: end) {
        defer { unread.removeFirst(range.upperBound) }
        return String(decoding: unread[..<range.upperBound], as: UTF8.self)
      }
      searched = max(0, unread.count - end.count)
      guard try receive() else { throw Failure(call: "end of the stream", number: 0) }
    }
  }

  /// Reads until the server ends the stream, also by a reset.
  func readToEnd() throws -> String {
    do {
      while try receive() {}
    } catch let failure as Failure where failure.number == ECONNRESET {}
    defer { unread = [] }
    return String(decoding: unread, as: UTF8.self)
  }

  private func receive() throws -> Bool {
    var buffer = [UInt8](repeating: 0, count: 64 << 10)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count >= 0 else { throw Self.failure("recv") }
    unread += buffer[..<count]
    return count > 0
  }

  /// Waits, without reading, until the server has closed the connection.
  func waitForHangUp() throws {
    guard try hangsUp(within: 60_000) else { throw Failure(call: "no hang-up", number: 0) }
  }

  /// Sends one byte after the other until the server closes the connection.
  func dribble() throws {
    for _ in 0..<1_000 {
      if try hangsUp(within: 20) { return }
      do { try send("x") } catch let failure as Failure where failure.number == EPIPE { return }
    }
    throw Failure(call: "no hang-up", number: 0)
  }

  private func hangsUp(within milliseconds: Int32) throws -> Bool {
    let hangUp: Int16 = 0x2000  // POLLRDHUP, which Glibc's module hides.
    var entry = pollfd(fd: descriptor, events: hangUp, revents: 0)
    let count = poll(&entry, 1, milliseconds)
    guard count >= 0 else { throw Self.failure("poll") }
    return count == 1
  }
}
