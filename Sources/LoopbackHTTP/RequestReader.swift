/// Reads the requests of one connection, one after the other (RFC 9112).
///
/// It is strict: a client under test should learn of its mistakes. Only CRLF ends a line, there
/// are no folded headers, and a request states its length in one way.
struct RequestReader {
  private let channel: Channel
  /// Bytes received and not yet used; a client may send requests ahead.
  private var buffer: [UInt8] = []

  init(channel: Channel) {
    self.channel = channel
  }

  /// The next request; nil when the client has closed the connection between two requests.
  mutating func next() throws -> Request? {
    guard let head = try readHead() else { return nil }
    var lines = head.split(separator: "\r\n", omittingEmptySubsequences: false)[...]
    let (method, target, version) = try parseRequestLine(lines.popFirst() ?? "")
    let headers = try lines.map(parseHeaderLine)
    if firstValue(of: "Expect", in: headers)?.lowercased() == "100-continue" {
      try channel.send(Array("HTTP/1.1 100 Continue\r\n\r\n".utf8))
    }
    let body = try readBody(headers)
    let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
    let option = firstValue(of: "Connection", in: headers)?.lowercased()
    return Request(
      method: method, target: target, path: percentDecoded(parts[0]),
      query: parts.count == 2 ? parseQuery(parts[1]) : [], headers: headers, body: body,
      connection: channel.number,
      keepsAlive: version == "HTTP/1.1" ? option != "close" : option == "keep-alive")
  }

  private mutating func readHead() throws -> String? {
    while true {
      if let head = try takeText(before: [13, 10, 13, 10], of: "headers") { return head }
      // A client that speaks TLS would wait for an answer until its timeout.
      if let first = buffer.first, first <= UInt8(ascii: " ") {
        throw LoopbackError(code: .badRequest, context: "first byte \(first)")
      }
      if try !fill() {
        guard buffer.isEmpty else {
          throw LoopbackError(code: .connectionClosed, context: "in the middle of a request")
        }
        return nil
      }
    }
  }

  private mutating func readBody(_ headers: [(name: String, value: String)]) throws -> [UInt8] {
    let length = firstValue(of: "Content-Length", in: headers)
    if let coding = firstValue(of: "Transfer-Encoding", in: headers) {
      guard coding.lowercased() == "chunked", length == nil else {
        throw LoopbackError(code: .badRequest, context: "Transfer-Encoding: \(coding)")
      }
      return try readChunks()
    }
    guard let length else { return [] }
    guard let count = Int(length), count >= 0 else {
      throw LoopbackError(code: .badRequest, context: "Content-Length: \(length)")
    }
    return try take(count)
  }

  private mutating func readChunks() throws -> [UInt8] {
    var body: [UInt8] = []
    while true {
      let line = try takeLine()
      let size = line.prefix { $0 != ";" }
      guard let count = Int(size, radix: 16), count >= 0 else {
        throw LoopbackError(code: .badRequest, context: "chunk size \(line)")
      }
      if count == 0 { break }
      body += try take(count)
      guard body.count <= LoopbackServer.Limits.bodyBytes else {
        throw LoopbackError(code: .requestTooLarge, context: "body")
      }
      guard try takeLine().isEmpty else {
        throw LoopbackError(code: .badRequest, context: "chunk longer than its size")
      }
    }
    while try !takeLine().isEmpty {}  // Trailers are read and dropped.
    return body
  }

  private mutating func takeLine() throws -> String {
    while true {
      if let line = try takeText(before: [13, 10], of: "chunk header") { return line }
      try fillOrThrow()
    }
  }

  /// Takes the text before a mark, and the mark; nil if the mark has not come yet.
  ///
  /// - Parameter part: The part of the request that may become too long.
  private mutating func takeText(before mark: [UInt8], of part: String) throws -> String? {
    guard let end = buffer.firstRange(of: mark) else {
      guard buffer.count <= LoopbackServer.Limits.headerBytes else {
        throw LoopbackError(code: .requestTooLarge, context: part)
      }
      return nil
    }
    let text = String(decoding: buffer[..<end.lowerBound], as: UTF8.self)
    buffer.removeSubrange(..<end.upperBound)
    return text
  }

  private mutating func take(_ count: Int) throws -> [UInt8] {
    guard count <= LoopbackServer.Limits.bodyBytes else {
      throw LoopbackError(code: .requestTooLarge, context: "body of \(count) bytes")
    }
    while buffer.count < count { try fillOrThrow() }
    let taken = Array(buffer[..<count])
    buffer.removeSubrange(..<count)
    return taken
  }

  private mutating func fillOrThrow() throws {
    if try !fill() {
      throw LoopbackError(code: .connectionClosed, context: "in the middle of a body")
    }
  }

  /// Waits for more bytes; false at the end of the stream.
  private mutating func fill() throws -> Bool {
    let received = try channel.receive()
    buffer += received
    return !received.isEmpty
  }
}

private func parseRequestLine(
  _ line: Substring
) throws -> (method: String, target: String, version: String) {
  let parts = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
  guard parts.count == 3, !parts[0].isEmpty, !parts[1].isEmpty, parts[2].hasPrefix("HTTP/1.")
  else {
    throw LoopbackError(code: .badRequest, context: "request line \(line)")
  }
  return (parts[0], parts[1], parts[2])
}

private func parseHeaderLine(_ line: Substring) throws -> (name: String, value: String) {
  guard let colon = line.firstIndex(of: ":"), colon != line.startIndex,
    !line[..<colon].contains(where: \.isWhitespace)
  else {
    throw LoopbackError(code: .badRequest, context: "header \(line)")
  }
  var value = line[line.index(after: colon)...]
  while let first = value.first, first == " " || first == "\t" { value.removeFirst() }
  while let last = value.last, last == " " || last == "\t" { value.removeLast() }
  return (String(line[..<colon]), String(value))
}

private func parseQuery(_ query: Substring) -> [(name: String, value: String)] {
  query.split(separator: "&").map { part in
    let sides = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    return (percentDecoded(sides[0]), sides.count == 2 ? percentDecoded(sides[1]) : "")
  }
}

/// The text with every `%XY` turned into its byte. What is no such escape stays as it is.
private func percentDecoded(_ text: Substring) -> String {
  let source = Array(text.utf8)
  var decoded: [UInt8] = []
  decoded.reserveCapacity(source.count)
  var index = 0
  while index < source.count {
    if source[index] == UInt8(ascii: "%"), index + 2 < source.count,
      let high = hexValue(source[index + 1]), let low = hexValue(source[index + 2])
    {
      decoded.append(high << 4 | low)
      index += 3
    } else {
      decoded.append(source[index])
      index += 1
    }
  }
  return String(decoding: decoded, as: UTF8.self)
}

private func hexValue(_ byte: UInt8) -> UInt8? {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
  case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
  case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
  default: nil
  }
}
