/// The reason why a request is not passed to the handler, as one line of the answer.
struct Refusal: Error, Equatable {
  let status: Int
  let line: String

  init(_ status: Int, _ line: String) {
    self.status = status
    self.line = line
  }
}

/// The request line and the headers of a request, checked.
///
/// libmicrohttpd 0.9.75 parses leniently: of several `Content-Length` it uses the first one, it
/// accepts names with spaces and any `Transfer-Encoding`. Two parties that read such a request
/// differently could be made to see different requests, so each of these is refused here, and a
/// refusal before the body closes the connection.
struct RequestHead: Sendable {
  let method: String
  private let target: String
  private let headers: [WebRequest.Field]

  static let methods = ["GET", "HEAD", "POST"]

  /// - Parameter headBytes: The size of the whole head, as it was received.
  init(
    method: String, target: String, headers: [WebRequest.Field], headBytes: Int,
    limits: WebServer.Limits
  ) throws(Refusal) {
    guard headBytes <= limits.headBytes else { throw Refusal(431, "the header is too large") }
    for (name, value) in headers {
      guard HeaderText.isName(name), HeaderText.isValue(value) else {
        throw Refusal(400, "a header has characters that are not allowed")
      }
    }
    self.method = method
    self.target = target
    self.headers = headers
    guard Self.methods.contains(method) else {
      throw Refusal(405, "the method is none of \(Self.methods.joined(separator: ", "))")
    }
    guard values("host").count == 1 else { throw Refusal(400, "there must be one Host header") }
    try checkTarget()
    try checkBody(bytesMax: limits.bodyBytes)
  }

  /// A target of two slashes would be the address of another host in a redirect.
  private func checkTarget() throws(Refusal) {
    guard target.hasPrefix("/"), !target.hasPrefix("//"),
      target.utf8.allSatisfy({ (0x21...0x7e).contains($0) })
    else { throw Refusal(400, "the address must be a path") }
  }

  private func checkBody(bytesMax: Int) throws(Refusal) {
    guard values("transfer-encoding").isEmpty else {
      throw Refusal(411, "a body needs a Content-Length, and no Transfer-Encoding")
    }
    let lengths = values("content-length")
    guard lengths.count <= 1 else { throw Refusal(400, "there are two Content-Length headers") }
    guard let text = lengths.first else { return }
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw Refusal(400, "the Content-Length is not a number")
    }
    guard let length = Int(text), length <= bytesMax else {
      throw Refusal(413, "the form is too large")
    }
    guard length > 0 else { return }
    guard method == "POST" else { throw Refusal(400, "a \(method) request has no body") }
    let type = values("content-type").first?.prefix { $0 != ";" && $0 != " " }.lowercased()
    guard type == "application/x-www-form-urlencoded" else {
      throw Refusal(415, "a form is application/x-www-form-urlencoded")
    }
  }

  private func values(_ name: String) -> [String] {
    headers.filter { $0.name.lowercased() == name }.map(\.value)
  }

  /// Decodes the target and the form.
  ///
  /// - Complexity: linear in their sizes.
  func request(body: [UInt8]) throws(Refusal) -> WebRequest {
    let parts = target.utf8.split(
      separator: UInt8(ascii: "?"), maxSplits: 1, omittingEmptySubsequences: false)
    return WebRequest(
      method: method, path: try FormText.decoded(parts[0], plusIsSpace: false),
      query: parts.count == 2 ? try FormText.fields(parts[1]) : [], headers: headers,
      form: try FormText.fields(body))
  }
}

/// The characters that are allowed in headers (RFC 9110, 5.5 and 5.6.2).
enum HeaderText {
  private static let symbols = Set("!#$%&'*+-.^_`|~".unicodeScalars)

  static func isName(_ text: String) -> Bool {
    !text.isEmpty
      && text.unicodeScalars.allSatisfy {
        ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
          || symbols.contains($0)
      }
  }

  /// True unless the text has a control character other than a tab.
  static func isValue(_ text: String) -> Bool {
    text.utf8.allSatisfy { ($0 >= 0x20 && $0 != 0x7f) || $0 == 0x09 }
  }
}
