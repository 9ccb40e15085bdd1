/// What there is to tell of one request and its answer, without secrets.
public struct HTTPExchangeNote: Sendable {
  public let method: String
  /// Without user, password and the values of query parts that look like secrets.
  public let url: String
  /// Nil when there was no whole answer.
  public let status: Int?
  /// Why there was no whole answer.
  public let failure: HTTPError.Code?
  /// Headers and body as they came over the wire.
  public let wireBytes: Int
  public let duration: Duration
  /// The names of the headers that made the request conditional.
  public let conditions: [String]
  /// The URL that redirected here, shown as ``url`` is.
  public let redirectedFrom: String?
  /// `1.1` or `2`; nil without an answer.
  public let version: String?
  /// Whether it went over a connection that was open already.
  public let isReused: Bool

  init(_ route: Route, _ outcome: Exchange.Outcome) {
    method = "GET"
    url = shownURL(route.url.text)
    wireBytes = outcome.wireBytes
    duration = outcome.duration
    conditions = route.sentConditions?.headers.map(\.name) ?? []
    redirectedFrom = route.redirects.last.map { shownURL($0.from) }
    version = outcome.version
    isReused = outcome.isReused
    switch outcome.ending {
    case .success(let answer): (status, failure) = (answer.status, nil)
    case .failure(let error): (status, failure) = (nil, error.code)
    }
  }
}
