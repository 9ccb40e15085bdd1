/// The answer to a request.
package struct WebResponse: Sendable {
  package enum Body: Sendable {
    case bytes([UInt8])
    /// Server-sent events: the response lasts until the client or the server ends it.
    case events(EventChannel)
  }

  package var status: Int
  /// Headers beside those that the server adds: `Date`, `Content-Length`, `Connection`, and each of
  /// ``securityHeaders`` whose name is not among these.
  package var headers: [WebRequest.Field]
  package var body: Body

  package init(status: Int = 200, headers: [WebRequest.Field] = [], body: Body) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// Creates a response of one line of plain text.
  package init(status: Int, line: String, headers: [WebRequest.Field] = []) {
    self.init(
      status: status, headers: [("Content-Type", "text/plain; charset=utf-8")] + headers,
      body: .bytes(Array("\(line)\n".utf8)))
  }

  init(_ refusal: Refusal) {
    let headers: [WebRequest.Field] =
      switch refusal.status {
      case 401: [("WWW-Authenticate", "Bearer")]
      case 405: [("Allow", RequestHead.methods.joined(separator: ", "))]
      default: []
      }
    self.init(status: refusal.status, line: refusal.line, headers: headers)
  }

  /// Headers of each response, so that a page loads and sends nothing elsewhere, is not framed, and
  /// stays in no cache.
  package static let securityHeaders: [WebRequest.Field] = [
    (
      "Content-Security-Policy",
      "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; "
        + "connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    // With "no-referrer" a browser names no origin in a form, which is then refused.
    ("X-Content-Type-Options", "nosniff"), ("Referrer-Policy", "same-origin"),
    ("Cache-Control", "no-store"), ("Cross-Origin-Opener-Policy", "same-origin"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
  ]

  /// The response with all its headers. A status or a header that cannot be sent, such as one with
  /// a line break, which could begin another response, makes it an answer of status 500.
  var complete: WebResponse {
    guard (200...599).contains(status),
      headers.allSatisfy({ HeaderText.isName($0.name) && HeaderText.isValue($0.value) })
    else {
      return WebResponse(status: 500, line: "the answer has a header that is invalid").complete
    }
    var response = self
    if case .events = body {
      // A proxy that collects the answer would hold the events back.
      response.add([("Content-Type", "text/event-stream"), ("X-Accel-Buffering", "no")])
    }
    response.add(Self.securityHeaders)
    return response
  }

  private mutating func add(_ defaults: [WebRequest.Field]) {
    let present = Set(headers.map { $0.name.lowercased() })
    headers += defaults.filter { !present.contains($0.name.lowercased()) }
  }
}
