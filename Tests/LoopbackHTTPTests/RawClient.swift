import Glibc

/// A TCP client that sends and reads bytes, so that the server is not tested by an HTTP library
/// that forgives.
final class RawClient {
  private let descriptor: Int32

  init(port: UInt16) throws {
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
    guard result == 0 else { throw Failure(call: "connect", number: errno) }
  }

  deinit {
    close(descriptor)
  }

  struct Failure: Error {
    let call: String
    let number: Int32
  }

  func send(_ text: String) throws {
    let bytes = Array(text.utf8)
    // SAFETY: the array's bytes are lent for the call. Loopback takes these few bytes at once.
    let count = Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    guard count == bytes.count else { throw Failure(call: "send", number: errno) }
  }

  /// Reads until the text read so far ends with `suffix`.
  func read(until suffix: String) throws -> String {
    var text = ""
    while !text.hasSuffix(suffix) {
      guard let byte = try readByte() else {
        throw Failure(call: "end before \(suffix)", number: 0)
      }
      text.unicodeScalars.append(Unicode.Scalar(byte))
    }
    return text
  }

  /// Reads until the server ends the stream.
  func readToEnd() throws -> String {
    var text = ""
    while let byte = try readByte() { text.unicodeScalars.append(Unicode.Scalar(byte)) }
    return text
  }

  private func readByte() throws -> UInt8? {
    var byte: UInt8 = 0
    // SAFETY: recv writes at most one byte into `byte`.
    let count = recv(descriptor, &byte, 1, 0)
    guard count >= 0 else { throw Failure(call: "recv", number: errno) }
    return count == 1 ? byte : nil
  }
}
