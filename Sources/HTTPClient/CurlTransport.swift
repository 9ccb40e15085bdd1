import CMooringCurl

/// An HTTP client on libcurl, with one thread of its own.
///
/// It limits the transfers per host, keeps connections open between requests, and repeats a request
/// for a plain body if a compressed one cannot be decoded. It uses no cookies, no HSTS files and no
/// proxy of the environment.
///
/// A redirect may lead from http to https but not back, not to a URL that was visited before, and
/// not from a public to a private address. Headers that may be secrets are sent to one origin only:
/// scheme, host and port.
public final class CurlTransport: HTTPTransport {
  /// The settings of a transport.
  public struct Configuration: Sendable {
    /// The `User-Agent` of requests that set none: `name/version (+URL)`, so that a publisher can
    /// contact the operator.
    public var userAgent = UserAgent.text()
    /// The URL of a proxy, such as `http://proxy:3128` or `socks5h://127.0.0.1:1080`. The
    /// environment is not used. With a proxy the addresses of hosts cannot be checked.
    public var proxy: String?
    /// The hosts that are connected to without the proxy: in lower case, in the form that URLs use.
    public var directHosts: Set<String> = []
    public var connectTimeout: Duration = .seconds(10)
    /// The minimum rate. A transfer below it for ``slowSecondsMax`` is ended, also while it waits
    /// for the first byte.
    public var slowestBytesPerSecond = 64
    public var slowSecondsMax = 15
    /// The maximum number of concurrent transfers to one host. Further ones wait.
    public var transfersPerHost = 2
    /// The maximum number of concurrent transfers.
    public var transfers = 8
    public var redirectsMax = 5
    /// Called after each request, including redirects and repetitions, on any thread.
    public var onExchange: (@Sendable (HTTPExchange) -> Void)?

    public init() {}
  }

  private let configuration: Configuration
  private let loop: TransferLoop

  /// Starts the thread.
  ///
  /// - Throws: ``HTTPError`` if libcurl cannot be initialized or the user agent cannot be sent.
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
    do {
      return try await send(&route)
    } catch let error as HTTPError {
      throw route.finish(error)
    }
  }

  private func send(_ route: inout Route) async throws -> HTTPResponse {
    while true {
      guard route.timeLeft > .zero else { throw HTTPError(.timeout, route.url.shown) }
      let transfer = try Transfer(route, configuration)
      let result = await loop.perform(transfer)
      route.count(transfer)
      configuration.onExchange?(HTTPExchange(route, transfer, result))

      switch result {
      case .failure(let error) where error.code == .badEncoding && route.acceptsCompression:
        route.acceptsCompression = false
      case .failure(let error): throw error
      case .success(let response):
        if let target = transfer.redirectTarget {
          try route.follow(status: response.status, to: target, from: transfer.address)
          continue
        }
        if !route.acceptsCompression { try requirePlainBody(response) }
        return route.finish(response, from: transfer.address)
      }
    }
  }

  /// - Throws: `badEncoding` if the body is encoded although a plain one was requested: it was not
  ///   decoded.
  private func requirePlainBody(_ response: HTTPResponse) throws {
    let coding = response.header("Content-Encoding") ?? "identity"
    guard coding.lowercased() == "identity" || response.body.isEmpty else {
      throw HTTPError(
        .badEncoding,
        "\(shownURL(response.effectiveURL)): Content-Encoding \(coding), also when asked not to")
    }
  }
}

extension CurlTransport {
  /// The version of curl: `7.88.1`.
  package static var libraryVersion: String {
    guard let curl = LibCurl.ifAvailable else { return "not installed" }
    // `libcurl/7.88.1 OpenSSL/3.0.16 …`
    let names = LibCurl.text(curl.call.pointee.curl_version())
    return String(names.prefix { $0 != " " }.drop { $0 != "/" }.dropFirst())
  }
}
