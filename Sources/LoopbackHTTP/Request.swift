/// A request as it came over the wire.
public struct Request: Sendable {
  /// The method as sent, such as `GET`.
  public let method: String
  /// The request target as sent: `/feed?page=2`.
  public let target: String
  /// The target up to `?`, percent-decoded.
  public let path: String
  /// The parts of the query in order, percent-decoded. `+` stays `+` (RFC 3986); a part without
  /// `=` has an empty value.
  public let query: [(name: String, value: String)]
  /// The headers in order, names as sent, values trimmed.
  public let headers: [(name: String, value: String)]
  /// The body, already unchunked.
  public let body: [UInt8]
  /// Which of the server's connections it came over, from 1 in the order of connecting.
  public let connection: Int
  /// True if the client lets the connection stay open after the response.
  let keepsAlive: Bool

  /// The first header of that name, whatever its case; nil when there is none.
  public func header(_ name: String) -> String? {
    firstValue(of: name, in: headers)
  }

  /// The first part of the query of that name; nil when there is none.
  public func queryValue(_ name: String) -> String? {
    query.first { $0.name == name }?.value
  }

  /// The bytes that this request takes in the log, roughly.
  var byteCount: Int {
    headers.reduce(target.utf8.count * 2 + body.count + 128) {
      $0 + $1.name.utf8.count + $1.value.utf8.count + 32
    }
  }
}

/// An answer with its whole body.
public struct Response: Sendable {
  public var status: Int
  public var headers: [(String, String)]
  public var body: [UInt8]

  /// `Content-Length` is added when the answer is sent, unless `headers` name it or
  /// `Transfer-Encoding`. The body is left out for HEAD and for 1xx, 204 and 304.
  public init(status: Int = 200, headers: [(String, String)] = [], body: [UInt8] = []) {
    self.status = status
    self.headers = headers
    self.body = body
  }

  /// An answer whose body is the UTF-8 of `text`.
  public init(status: Int = 200, headers: [(String, String)] = [], text: String) {
    self.init(status: status, headers: headers, body: Array(text.utf8))
  }
}

func firstValue(of name: String, in headers: [(name: String, value: String)]) -> String? {
  let lowercased = name.lowercased()
  return headers.first { $0.name.lowercased() == lowercased }?.value
}
