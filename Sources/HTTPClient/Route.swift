/// The state of one request over all its transfers: the URL that is next, what may be sent there,
/// and what is used up of the request's limits. Each redirect changes it.
///
/// Redirects are not left to libcurl, which sends validators and unknown secrets on to other
/// origins and follows https to http.
struct Route: Sendable {
  private(set) var url: WebURL
  private var plainHeaders: [(name: String, value: String)]
  /// The headers for the first origin; none after a redirect to another one.
  private var secretHeaders: [(name: String, value: String)]
  private let conditions: HTTPConditions?
  private(set) var credentials: WebURL.Credentials?
  private var allowsPrivateAddresses: Bool
  /// True until a redirect to another host: only the operator may choose a link-local address.
  private var allowsLinkLocalAddresses = true
  let decodedBytesMax: Int
  let endsSlowTransfers: Bool
  /// False after a compressed body could not be decoded: then the plain one is requested.
  var acceptsCompression = true
  private(set) var timeLeft: Duration
  private(set) var redirects: [HTTPResponse.Redirect] = []
  /// True if the first URL's address was public; nil before its redirect.
  private var isFirstPublic: Bool?
  private var requests = 0
  private var wireBytes = 0
  private let redirectsMax: Int

  /// - Throws: `invalidHeader`, `invalidURL` or `unsupportedProtocol`.
  init(_ request: HTTPRequest, redirectsMax: Int) throws {
    try validateRequestHeaders(
      request.headers + request.secretHeaders + (request.conditions?.headers ?? []))
    url = try WebURL(request.url)
    plainHeaders = request.headers
    secretHeaders = request.secretHeaders
    conditions = request.conditions
    credentials = url.credentials
    allowsPrivateAddresses = request.allowsPrivateAddresses
    decodedBytesMax = request.decodedBytesMax
    endsSlowTransfers = request.endsSlowTransfers
    timeLeft = request.timeout
    self.redirectsMax = redirectsMax
  }

  /// The headers that are sent to ``url``.
  var headers: [(name: String, value: String)] {
    plainHeaders + secretHeaders + (sentConditions?.headers ?? [])
  }

  /// The validators, if they belong to ``url``.
  var sentConditions: HTTPConditions? {
    conditions.flatMap { $0.wereSent(to: url.text) ? $0 : nil }
  }

  /// Returns true if the next transfer may connect to the address.
  func allows(_ address: IPAddress?) -> Bool {
    guard let address else { return allowsPrivateAddresses }
    if address.isLinkLocal, !allowsLinkLocalAddresses { return false }
    return allowsPrivateAddresses || address.isPublic
  }

  /// Counts a transfer against the request's limits.
  mutating func count(_ transfer: Transfer) {
    timeLeft -= transfer.duration
    wireBytes += transfer.wireBytes
    requests += 1
  }

  /// Goes to the target of a redirect.
  ///
  /// - Parameter address: The address that sent the redirect. Nil, an unknown one, counts as
  ///   public.
  /// - Throws: `insecureRedirect`, `tooManyRedirects` or `badRedirect`.
  mutating func follow(status: Int, to location: String, from address: IPAddress?) throws {
    let target: WebURL
    do {
      target = try WebURL(location)
    } catch let error as HTTPError where error.code != .other {
      // Not a mistake of the caller, whose URL was right.
      throw HTTPError(.badRedirect, "\(url.shown) to \(error.context)")
    }
    guard url.origin.scheme == "http" || target.origin.scheme == "https" else {
      throw HTTPError(.insecureRedirect, "\(url.shown) to \(target.shown)")
    }
    guard target.text != url.text, !redirects.contains(where: { $0.from == target.text }) else {
      throw HTTPError(.tooManyRedirects, "\(url.shown) leads back to \(target.shown)")
    }
    guard redirects.count < redirectsMax else {
      throw HTTPError(.tooManyRedirects, "\(target.shown) would be redirect \(redirectsMax + 1)")
    }
    redirects.append(HTTPResponse.Redirect(status: status, from: url.text, to: target.text))
    if target.origin != url.origin {
      // For good, also if a later redirect leads back: its URL comes from the other origin.
      plainHeaders.removeAll { !headersForAnyOrigin.contains($0.name.lowercased()) }
      secretHeaders = []
      credentials = nil
    }
    if address?.isPublic != false { allowsPrivateAddresses = false }
    if target.origin.host != url.origin.host { allowsLinkLocalAddresses = false }
    isFirstPublic = isFirstPublic ?? (address?.isPublic == true)
    url = target
  }

  /// Completes the error of the last transfer with what the transfers before it add.
  func finish(_ error: HTTPError) -> HTTPError {
    var error = error
    error.isAfterRedirect = !redirects.isEmpty
    // libcurl ends a transfer at its limit, give or take the granularity of its clock.
    error.isAtTimeLimit = timeLeft <= .milliseconds(50)
    (error.requests, error.wireBytes) = (requests, wireBytes)
    return error
  }

  /// Completes the answer of the last transfer with what the transfers before it add.
  func finish(_ response: HTTPResponse, from address: IPAddress?) -> HTTPResponse {
    var response = response
    response.redirects = redirects
    response.wireBytes = wireBytes
    response.requests = requests
    response.isFromPrivateAddress = allowsPrivateAddresses && address?.isPublic == false
    response.isHostPublic = isFirstPublic ?? (address?.isPublic == true)
    return response
  }
}

/// Checks that headers can be sent unchanged. They come from configuration, mappings and stored
/// validators, and libcurl sends a line break in a value as it is: the value could add headers.
///
/// - Throws: `invalidHeader`.
func validateRequestHeaders(_ headers: [(name: String, value: String)]) throws {
  for (name, value) in headers {
    guard isHeaderName(name) else {
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

/// The headers that define framing and encoding. The transport sets them itself.
private let headersOfTransport: Set = [
  "accept-encoding", "connection", "content-length", "expect", "host", "te", "transfer-encoding",
  "upgrade",
]

/// The headers that follow a redirect to another origin: an allow list, because a header of any
/// other name may carry a token.
private let headersForAnyOrigin: Set = [
  "accept", "accept-language", "cache-control", "pragma", "user-agent",
]

/// Returns true if the text can be the name of a header.
package func isHeaderName(_ text: String) -> Bool {
  !text.isEmpty && text.utf8.allSatisfy(isTokenCharacter)
}

/// Returns true for the characters of RFC 9110, section 5.6.2.
private func isTokenCharacter(_ byte: UInt8) -> Bool {
  switch byte {
  case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
    UInt8(ascii: "a")...UInt8(ascii: "z"):
    true
  default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
  }
}
