/// One request and its answer, without redirects and retries.
struct Exchange: Sendable {
  let url: WebURL
  let headers: [(name: String, value: String)]
  let credentials: WebURL.Credentials?
  /// Otherwise the server is asked for the plain body, and nothing is decoded.
  let acceptsCompression: Bool
  let decodedBytesMax: Int
  let timeout: Duration
  let allowsPrivateAddresses: Bool

  struct Answer: Sendable {
    let status: Int
    let headers: [(name: String, value: String)]
    let body: PaddedBytes
    /// The absolute target when the status is a redirect that is followed.
    let redirectTarget: String?
    let retryAfter: Int?
  }

  struct Outcome: Sendable {
    /// The address asked; nil when there was no connection.
    let address: IPAddress?
    let wireBytes: Int
    /// The time from when a connection was free for it to its end.
    let duration: Duration
    /// Whether it went over a connection that was open already.
    var isReused = false
    /// `1.1` or `2`; nil when there was no answer.
    var version: String?
    let ending: Result<Answer, HTTPError>
  }
}
