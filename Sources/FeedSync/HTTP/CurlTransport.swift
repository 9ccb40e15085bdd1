/// HTTP over libcurl, on one thread of its own.
///
/// It starts no more transfers per host than configured, keeps connections open between requests,
/// and asks once more for a plain body when a compressed one cannot be decoded. Cookies, HSTS
/// files and proxies of the environment are not used.
///
/// Redirects lead from http to https and never back, to no URL seen before, and from no public to
/// a private address. Headers that may be secrets stay with their origin: scheme, host and port.
public final class CurlTransport: HTTPTransport {
  /// What holds for all requests of a transport.
  public struct Configuration: Sendable {
    /// Sent with every request that names no other: `name/version (+URL)`, so that a publisher
    /// can find out who asks.
    public var userAgent = UserAgent.text()
    /// The URL of a proxy, such as `http://proxy:3128` or `socks5h://127.0.0.1:1080`. The
    /// environment is never asked. Behind a proxy the addresses of hosts cannot be checked.
    public var proxy: String?
    /// The hosts, in lower case and as URLs write them, that are asked without the proxy.
    public var directHosts: Set<String> = []
    public var connectTimeout: Duration = .seconds(10)
    /// A transfer that stays below this rate for ``slowSecondsMax`` is ended, also while it waits
    /// for the first byte.
    public var slowestBytesPerSecond = 64
    public var slowSecondsMax = 15
    /// Transfers at the same time, to one host and in all. Further ones wait.
    public var transfersPerHost = 2
    public var transfers = 8
    public var redirectsMax = 5
    /// Told of each request and its answer, redirects and repetitions among them, in the order of
    /// their ends. Called on any thread.
    public var onExchange: (@Sendable (HTTPExchangeNote) -> Void)?

    public init() {}
  }

  private let configuration: Configuration
  private let loop: TransferLoop

  /// Starts the thread.
  ///
  /// - Throws: ``HTTPError`` when libcurl cannot be initialized or the user agent cannot be sent.
  public init(configuration: Configuration = Configuration()) throws {
    try validateRequestHeaders([("User-Agent", configuration.userAgent)])
    self.configuration = configuration
    loop = try TransferLoop(configuration)
  }

  deinit {
    loop.stop()
  }

  /// Cancels all requests, closes all connections and waits until the thread has ended. Requests
  /// sent later fail with `.cancelled`. Further calls do nothing.
  public func shutdown() {
    loop.stop()
  }

  public func send(_ request: HTTPRequest) async throws -> HTTPResponse {
    var route = try Route(request, redirectsMax: configuration.redirectsMax)
    var acceptsCompression = true
    var timeLeft = request.timeout
    var wireBytes = 0
    var requests = 0

    while true {
      guard timeLeft > .zero else { throw HTTPError(.timeout, route.url.shown) }
      let outcome = await loop.perform(
        Exchange(
          url: route.url, headers: route.headers, credentials: route.credentials,
          acceptsCompression: acceptsCompression, decodedBytesMax: request.decodedBytesMax,
          timeout: timeLeft, allowsPrivateAddresses: route.allowsPrivateAddresses))
      timeLeft -= outcome.duration
      wireBytes += outcome.wireBytes
      requests += 1
      configuration.onExchange?(HTTPExchangeNote(route, outcome))

      switch outcome.ending {
      case .failure(let error) where error.code == .badEncoding && acceptsCompression:
        acceptsCompression = false
      case .failure(let error):
        throw error
      case .success(let answer):
        if let target = answer.redirectTarget {
          try route.follow(status: answer.status, to: target, from: outcome.address)
          continue
        }
        if !acceptsCompression { try requirePlainBody(answer, from: route.url) }
        return HTTPResponse(
          status: answer.status, headers: answer.headers, body: answer.body,
          effectiveURL: route.url.text, redirects: route.redirects, wireBytes: wireBytes,
          requests: requests, retryAfter: answer.retryAfter,
          isFromPrivateAddress: route.allowsPrivateAddresses
            && outcome.address?.isPublic == false)
      }
    }
  }

  /// Fails when a body that was asked for plain is encoded all the same: nothing has decoded it.
  private func requirePlainBody(_ answer: Exchange.Answer, from url: WebURL) throws {
    let coding = firstValue(of: "Content-Encoding", in: answer.headers) ?? "identity"
    guard coding.lowercased() == "identity" || answer.body.isEmpty else {
      throw HTTPError(
        .badEncoding, "\(url.shown): Content-Encoding \(coding), also when asked not to")
    }
  }
}
