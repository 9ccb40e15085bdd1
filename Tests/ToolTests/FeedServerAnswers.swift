import Foundation
import LoopbackHTTP
import Testing

/// A `homefeed/1` document, as a client reads it.
struct HomeFeedAnswer: Decodable {
  struct Position: Decodable {
    var next: String?
    var index: Int
  }

  struct Section: Decodable {
    var key: String
    var items: [String]?
  }

  struct User: Decodable {
    var id: String
    var rev: Int
  }

  var format, epoch, mode: String
  var version: Int
  var since: Int?
  var sections: [Section]?
  var entities: [EntityAnswer]
  var user: [User]
  var page: Position
  var checkpoint: String?
  var horizon, ttl: Int
}

struct EntityAnswer: Decodable, Equatable {
  struct Attributes: Decodable, Equatable {
    var title, summary, url: String
    var type, duration, position: Int?
    var path, publishedAt: String?
  }

  var id, kind: String
  var rev: Int
  var updatedAt, deletedAt: String?
  var deleted: Bool?
  var attrs: Attributes?
}

/// An answer read from a bare socket, because URL libraries tidy up paths before they send them.
struct HTTPAnswer {
  var status: Int
  var headers: [String: String]
  var body: [UInt8]

  subscript(name: String) -> String? { headers[name] }

  var text: String { String(decoding: body, as: UTF8.self) }

  static func ask(_ line: String, _ headers: [String] = [], port: UInt16) throws -> HTTPAnswer {
    let lines = ["\(line) HTTP/1.1", "Host: 127.0.0.1", "Connection: close"] + headers
    let request = Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
    let bytes = try exchange(request, port: port)
    let end = try #require(bytes.firstRange(of: Array("\r\n\r\n".utf8)))
    let head = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).components(
      separatedBy: "\r\n")
    let fields = head.dropFirst().compactMap { line -> (String, String)? in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      return (line[..<colon].lowercased(), String(value))
    }
    return HTTPAnswer(
      status: try #require(Int(head[0].split(separator: " ")[1])),
      headers: Dictionary(fields) { first, _ in first }, body: Array(bytes[end.upperBound...]))
  }

  private static func exchange(_ request: [UInt8], port: UInt16) throws -> [UInt8] {
    let number = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let handle = FileHandle(fileDescriptor: number, closeOnDealloc: true)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    // SAFETY: sockaddr_in is what connect expects behind a sockaddr of family AF_INET.
    let outcome = withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(number, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    try #require(outcome == 0)
    try handle.write(contentsOf: request)
    return Array(try handle.readToEnd() ?? Data())
  }
}

extension LoopbackServer {
  func ask(_ line: String, _ headers: [String] = []) throws -> HTTPAnswer {
    try HTTPAnswer.ask(line, headers, port: port)
  }
}
