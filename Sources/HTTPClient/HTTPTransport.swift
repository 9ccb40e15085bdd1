/// Sends HTTP requests. The seam between the sync and the network: tests pass their own.
public protocol HTTPTransport: Sendable {
  /// Sends a GET request and returns the final answer, whatever its status.
  ///
  /// - Throws: ``HTTPError``, also when the task is cancelled.
  func send(_ request: HTTPRequest) async throws -> HTTPResponse
}

/// A GET request.
public struct HTTPRequest: Sendable {
  /// An absolute `http` or `https` URL. A user and password in it are sent as Basic credentials.
  public var url: String
  /// The headers, sent unchanged. Only `Accept`, `Accept-Language`, `Cache-Control`, `Pragma` and
  /// `User-Agent` follow a redirect to another origin: any other header may be a secret, or may
  /// refer to the first origin's document.
  public var headers: [(name: String, value: String)]
  /// Headers for the URL's own origin, sent unchanged. None of them follows a redirect to another
  /// one, whatever its name.
  public var secretHeaders: [(name: String, value: String)] = []
  /// The validators that make the request conditional. They are sent only to the URL that they
  /// belong to, which may be the request's own or the target of a redirect.
  public var conditions: HTTPConditions?
  /// The largest decoded body, in bytes. A larger one is an error.
  public var decodedBytesMax: Int
  /// The time limit for all transfers of the request together, redirects included. The wait for
  /// a free connection does not count.
  public var timeout: Duration
  /// True to end a transfer below the transport's minimum rate before the time limit. False if the
  /// operator has set the limit for a slow server.
  public var endsSlowTransfers = true
  /// True if the URL's host may have a private address: right for a URL that the operator gave,
  /// wrong for one that a feed names. A redirect from a public to a private address is always
  /// refused.
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

/// The validators of an earlier answer, verbatim, with the URL that gave it: at another URL they
/// would refer to another document.
public struct HTTPConditions: Sendable, Equatable {
  /// The URL that gave the answer: ``HTTPResponse/effectiveURL``.
  public var url: String
  public var etag: String?
  public var lastModified: String?

  public init(url: String, etag: String? = nil, lastModified: String? = nil) {
    self.url = url
    self.etag = etag
    self.lastModified = lastModified
  }

  public var isEmpty: Bool { etag == nil && lastModified == nil }

  /// The request headers. A server that knows both kinds ignores the date (RFC 9110, 13.1.3).
  package var headers: [(name: String, value: String)] {
    [("If-None-Match", etag), ("If-Modified-Since", lastModified)].compactMap { name, value in
      value.map { (name, $0) }
    }
  }

  /// Returns true if a request that ended at the URL carried the validators.
  package func wereSent(to url: String) -> Bool {
    !isEmpty && WebURL.isSame(self.url, url)
  }
}
