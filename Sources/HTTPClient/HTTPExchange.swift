/// One request and its answer as a log shows them, without secrets.
public struct HTTPExchange: Sendable {
  public let method: String
  /// The URL without user, password and the values of query items that look like secrets.
  public let url: String
  /// The status; nil if there was no complete answer.
  public let status: Int?
  /// The reason why there was no complete answer.
  public let failure: HTTPError.Code?
  /// The bytes of headers and body as transferred.
  public let wireBytes: Int
  public let duration: Duration
  /// The names of the headers that made the request conditional.
  public let conditions: [String]
  /// The URL that redirected here, without secrets.
  public let redirectedFrom: String?
  /// `1.1` or `2`; nil without an answer.
  public let version: String?
  /// True if the connection was open already.
  public let isReused: Bool

  init(_ route: Route, _ transfer: Transfer, _ result: Result<HTTPResponse, HTTPError>) {
    method = "GET"
    url = route.url.shown
    wireBytes = transfer.wireBytes
    duration = transfer.duration
    conditions = route.sentConditions?.headers.map(\.name) ?? []
    redirectedFrom = route.redirects.last.map { shownURL($0.from) }
    version = transfer.version
    isReused = transfer.isReused
    switch result {
    case .success(let response): (status, failure) = (response.status, nil)
    case .failure(let error): (status, failure) = (nil, error.code)
    }
  }
}
