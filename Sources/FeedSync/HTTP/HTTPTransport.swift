/// Sends HTTP requests. The one seam between the sync and the network, so that tests can answer.
public protocol HTTPTransport: Sendable {
  /// Sends a GET request and returns the final answer, whatever its status.
  ///
  /// - Throws: ``HTTPError``, also when the task is cancelled.
  func send(_ request: HTTPRequest) async throws -> HTTPResponse
}

/// A GET request.
public struct HTTPRequest: Sendable {
  /// An absolute `http` or `https` URL. User and password in it are sent as Basic credentials.
  public var url: String
  /// Headers as they are to be sent. Only `Accept`, `Accept-Language`, `Cache-Control`, `Pragma`
  /// and `User-Agent` follow a redirect to another origin; everything else may be a secret or
  /// means the first origin's copy.
  public var headers: [(name: String, value: String)]
  /// What makes the request conditional; sent to the URL that it is of and to no other, be that the
  /// request's own or the target of a redirect.
  public var conditions: HTTPConditions?
  /// The most bytes that the body may have after decoding; one more is an error.
  public var decodedBytesMax: Int
  /// The time that all transfers of the request may take together, redirects included. Waiting
  /// for a free connection does not count.
  public var timeout: Duration
  /// Whether the URL's host may have an address that is not public: right for what an operator
  /// typed, wrong for what a feed names. A redirect from a public to a private address is refused
  /// in any case.
  public var allowsPrivateAddresses: Bool

  public init(
    url: String, headers: [(name: String, value: String)] = [], decodedBytesMax: Int = 32 << 20,
    timeout: Duration = .seconds(60), allowsPrivateAddresses: Bool = true,
    conditions: HTTPConditions? = nil
  ) {
    self.url = url
    self.headers = headers
    self.conditions = conditions
    self.decodedBytesMax = decodedBytesMax
    self.timeout = timeout
    self.allowsPrivateAddresses = allowsPrivateAddresses
  }
}
