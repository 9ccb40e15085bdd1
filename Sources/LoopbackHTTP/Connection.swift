import SystemSupport

/// The way to answer one request, byte by byte if need be.
///
/// Nothing that a handler sends is checked, so that it can send what no sound server would. All
/// methods block until the system has taken the bytes and throw ``LoopbackError`` with
/// `.connectionClosed` once the client is gone or the server stops. They may be called from any
/// thread, one at a time, until the handler returns.
///
/// After the handler has returned the connection stays open for the next request, unless the
/// client or a sent header said `Connection: close`, ``close()`` was called, or a chunked body
/// was not ended. A handler that sent nothing answers 500.
public struct Connection: Sendable {
  private let channel: Channel
  private let method: String
  private let progress = Progress()

  init(channel: Channel, method: String) {
    self.channel = channel
    self.method = method
  }

  /// Sends a whole answer.
  public func send(_ response: Response) throws {
    let isBodiless = response.status < 200 || response.status == 204 || response.status == 304
    var headers = response.headers
    if !isBodiless, !names(headers, "Content-Length"), !names(headers, "Transfer-Encoding") {
      headers.append(("Content-Length", String(response.body.count)))
    }
    var bytes = head(status: response.status, headers: headers)
    if !isBodiless, method != "HEAD" { bytes += response.body }
    try sendRaw(bytes)
  }

  /// Sends bytes as they are. If they do not end an answer, call ``close()`` or continue to
  /// send: the server does not parse them.
  public func sendRaw(_ bytes: [UInt8]) throws {
    progress.noteSent()
    try channel.send(bytes)
  }

  /// Sends bytes as they are, from text.
  public func sendRaw(_ text: String) throws {
    try sendRaw(Array(text.utf8))
  }

  /// Sends a status line and headers. Unless they name `Content-Length` or `Transfer-Encoding`,
  /// `Transfer-Encoding: chunked` is added, and ``sendChunk(_:)`` and ``endChunks()`` follow.
  public func sendHead(status: Int = 200, headers: [(String, String)] = []) throws {
    var headers = headers
    if !names(headers, "Content-Length"), !names(headers, "Transfer-Encoding") {
      headers.append(("Transfer-Encoding", "chunked"))
      progress.beginChunks()
    }
    try sendRaw(head(status: status, headers: headers))
  }

  /// Sends one chunk of a chunked body. An empty chunk is not sent, since it would end the body.
  public func sendChunk(_ bytes: [UInt8]) throws {
    guard !bytes.isEmpty else { return }
    try sendRaw(Array("\(String(bytes.count, radix: 16))\r\n".utf8) + bytes + [13, 10])
  }

  /// Ends a chunked body.
  public func endChunks() throws {
    try sendRaw("0\r\n\r\n")
    progress.endChunks()
  }

  /// Ends the connection: what was sent still arrives, then the client sees the end of the
  /// stream. Further calls do nothing.
  public func close() {
    progress.close()
    channel.shutDown()
  }

  /// Sends nothing until the signal is fired.
  ///
  /// - Throws: ``LoopbackError`` with `.connectionClosed` when the client goes or the server
  ///   stops before that.
  public func stall(until signal: Signal) throws {
    guard try channel.waitForEnd(or: signal) == .signal else {
      throw LoopbackError(code: .connectionClosed, context: "while the answer was held back")
    }
  }

  /// Sends nothing until the client closes the connection or the server stops.
  public func waitForClose() throws {
    _ = try channel.waitForEnd(or: nil)
  }

  /// True if anything was sent.
  var hasSent: Bool { progress.hasSent }

  /// True if the client can find the end of the response without the end of the connection.
  var staysOpen: Bool { progress.staysOpen }

  private func head(status: Int, headers: [(String, String)]) -> [UInt8] {
    if headers.contains(where: { $0.0.lowercased() == "connection" && $0.1.lowercased() == "close" }
    ) {
      progress.close()
    }
    var text = "HTTP/1.1 \(status) \(reasonPhrase(status))\r\n"
    for (name, value) in headers { text += "\(name): \(value)\r\n" }
    return Array((text + "\r\n").utf8)
  }

  private func names(_ headers: [(String, String)], _ name: String) -> Bool {
    headers.contains { $0.0.lowercased() == name.lowercased() }
  }
}

/// The progress of the response to one request.
private final class Progress: Sendable {
  private struct State {
    var hasSent = false
    var isInChunks = false
    var isClosed = false
  }

  private let state = Locked(State())

  var hasSent: Bool { state.withLock { $0.hasSent } }
  var staysOpen: Bool { state.withLock { !$0.isInChunks && !$0.isClosed } }

  func noteSent() { state.withLock { $0.hasSent = true } }
  func beginChunks() { state.withLock { $0.isInChunks = true } }
  func endChunks() { state.withLock { $0.isInChunks = false } }

  func close() {
    state.withLock {
      $0.isClosed = true
      $0.hasSent = true  // An answer cut to nothing is an answer: no 500 follows.
    }
  }
}

private func reasonPhrase(_ status: Int) -> String {
  switch status {
  case 103: "Early Hints"
  case 200: "OK"
  case 204: "No Content"
  case 206: "Partial Content"
  case 301: "Moved Permanently"
  case 302: "Found"
  case 303: "See Other"
  case 304: "Not Modified"
  case 307: "Temporary Redirect"
  case 308: "Permanent Redirect"
  case 400: "Bad Request"
  case 401: "Unauthorized"
  case 403: "Forbidden"
  case 404: "Not Found"
  case 410: "Gone"
  case 413: "Content Too Large"
  case 429: "Too Many Requests"
  case 431: "Request Header Fields Too Large"
  case 500: "Internal Server Error"
  case 503: "Service Unavailable"
  default: "Status"  // RFC 9112, section 4: clients ignore the phrase.
  }
}
