/// Checks that headers can be sent as they are. They come from configuration, mappings and the
/// stored validators of earlier answers, and libcurl would send a line break in one as it is:
/// whoever sets a header could then add others.
func validateRequestHeaders(_ headers: [(name: String, value: String)]) throws {
  for (name, value) in headers {
    guard !name.isEmpty, name.utf8.allSatisfy(isTokenCharacter) else {
      throw HTTPError(.invalidHeader, "\(name.debugDescription) is no header name")
    }
    guard !hasControlCharacter(value) else {
      // The value is left out: it may be a secret.
      throw HTTPError(.invalidHeader, "the value of \(name) has a control character")
    }
    guard !headersOfTransport.contains(name.lowercased()) else {
      throw HTTPError(.invalidHeader, "\(name) is set by the transport")
    }
  }
}

/// The headers that follow a redirect to another origin.
func headersForOtherOrigin(
  _ headers: [(name: String, value: String)]
) -> [(name: String, value: String)] {
  headers.filter { headersForAnyOrigin.contains($0.name.lowercased()) }
}

/// What tells how a message is framed or encoded; a second opinion would break it.
private let headersOfTransport: Set = [
  "accept-encoding", "connection", "content-length", "expect", "host", "te", "transfer-encoding",
  "upgrade",
]

/// A list of what may pass, not of known secrets: any other name may carry a token.
private let headersForAnyOrigin: Set = [
  "accept", "accept-language", "cache-control", "pragma", "user-agent",
]

/// RFC 9110, section 5.6.2.
private func isTokenCharacter(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "a")...UInt8(ascii: "z"):
    true
  default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}
