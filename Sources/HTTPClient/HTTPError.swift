/// A request without an answer.
public struct HTTPError: Error, Sendable, CustomStringConvertible {
  /// The kind of an error.
  public enum Code: String, Sendable {
    /// The host is unknown or refuses connections.
    case unreachable
    /// The request's time limit was reached, or the transfer was too slow for too long.
    case timeout
    /// The body, or its announced length, exceeds the request's limit.
    case tooLarge
    /// The header does not end, or has a line without end.
    case headerTooLarge
    /// The connection ended before the answer did.
    case truncated
    /// The body cannot be decoded by its `Content-Encoding`, nor was a plain one sent on request.
    case badEncoding
    /// More redirects than allowed, or a loop.
    case tooManyRedirects
    /// A redirect to a target that is no http or https URL.
    case badRedirect
    /// A redirect from https to http.
    case insecureRedirect
    /// The host's address is private where only public ones are allowed.
    case refusedAddress
    /// A request header that cannot be sent.
    case invalidHeader
    /// A URL that cannot be parsed.
    case invalidURL
    /// A URL that is neither http nor https.
    case unsupportedProtocol
    /// There is no secure connection, or the certificate cannot be trusted.
    case tls
    /// The server violates HTTP.
    case protocolViolation
    /// The task was cancelled, or the transport shut down.
    case cancelled
    /// libcurl is not installed.
    case libraryMissing
    /// Any other error that libcurl reports.
    case other
  }

  public let code: Code
  /// The URL, without user and password, and libcurl's message.
  public let context: String
  /// True if it is the target of a redirect that has failed, and not the request's own URL.
  package var isAfterRedirect = false
  /// True if the request's whole time limit is used up.
  package var isAtTimeLimit = false
  /// The requests that were sent, with redirects and repetitions, and the bytes that they got.
  package var requests = 0
  package var wireBytes = 0
  /// The advice of the caller, which knows how its limits are changed; nil for the general one.
  package var callerAdvice: String?

  /// Creates an error, for another ``HTTPTransport`` or a test.
  public init(_ code: Code, _ context: String) {
    self.code = code
    self.context = context
  }

  /// The problem in a few words, the same for every error with this code.
  public var summary: String {
    switch code {
    case .unreachable: "the server cannot be reached"
    case .timeout: "the server took too long"
    case .tooLarge: "the answer is too large"
    case .headerTooLarge: "the answer's header is too large"
    case .truncated: "the answer ended early"
    case .badEncoding: "the answer cannot be decoded"
    case .tooManyRedirects: "the server redirects too often"
    case .badRedirect: "the server redirects to a URL that cannot be requested"
    case .insecureRedirect: "the server redirects from https to http"
    case .refusedAddress: "the address is not public"
    case .invalidHeader: "a request header cannot be sent"
    case .invalidURL: "the URL cannot be read"
    case .unsupportedProtocol: "the URL is neither http nor https"
    case .tls: "no secure connection"
    case .protocolViolation: "the server does not speak HTTP as it should"
    case .cancelled: "the request was cancelled"
    case .libraryMissing: "libcurl cannot be loaded"
    case .other: "the request failed"
    }
  }

  /// The advice to the operator.
  public var advice: String { callerAdvice ?? generalAdvice }

  private var generalAdvice: String {
    switch code {
    case .unreachable: "check the host name and the network, then try again"
    case .timeout, .truncated: "try again later"
    case .tooLarge: "check that the URL is a feed"
    case .badEncoding, .protocolViolation, .headerTooLarge, .badRedirect:
      "report it to the feed's publisher"
    case .tooManyRedirects: "open the URL in a browser and use the one it ends at"
    case .insecureRedirect: "use the http URL if its content needs no protection"
    case .refusedAddress: "give the private URL itself if it is intended"
    case .invalidHeader: "remove line breaks and control characters from the header"
    case .invalidURL: "give an absolute URL such as https://example.org/feed.json"
    case .unsupportedProtocol: "give an http or https URL"
    case .tls: "check the clock, the host name and the certificate"
    case .cancelled: "send it again if it is still wanted"
    case .libraryMissing: "install the Debian package libcurl4"
    case .other: "see libcurl's message"
    }
  }

  public var description: String { "\(summary): \(context) (\(advice))" }
}
