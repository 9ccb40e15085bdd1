/// Where a request goes next: its URL and what may be sent there, changed by each redirect.
///
/// Redirects are not left to libcurl, which sends validators and unknown secrets on to other
/// origins and follows https to http (`reference/feed-sync.md`, 2.1, row 24).
struct Route: Sendable {
  private(set) var url: WebURL
  private var plainHeaders: [(name: String, value: String)]
  private let conditions: HTTPConditions?
  private(set) var credentials: WebURL.Credentials?
  private(set) var allowsPrivateAddresses: Bool
  private(set) var redirects: [HTTPResponse.Redirect] = []
  private let redirectsMax: Int

  init(_ request: HTTPRequest, redirectsMax: Int) throws {
    try validateRequestHeaders(request.headers + (request.conditions?.headers ?? []))
    url = try WebURL(request.url)
    plainHeaders = request.headers
    conditions = request.conditions
    credentials = url.credentials
    allowsPrivateAddresses = request.allowsPrivateAddresses
    self.redirectsMax = redirectsMax
  }

  /// What is sent to the URL where the route has come to.
  var headers: [(name: String, value: String)] { plainHeaders + (sentConditions?.headers ?? []) }

  /// The validators, where they are of the URL that is asked.
  var sentConditions: HTTPConditions? {
    conditions.flatMap { $0.wereSent(to: url.text) ? $0 : nil }
  }

  /// Goes to the target of a redirect, or throws when the rules forbid it.
  ///
  /// - Parameter address: the address that sent the redirect; nil, when it is not known, counts
  ///   as public.
  mutating func follow(status: Int, to location: String, from address: IPAddress?) throws {
    let target = try WebURL(location)
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
      plainHeaders = headersForOtherOrigin(plainHeaders)
      credentials = nil
    }
    if address?.isPublic != false { allowsPrivateAddresses = false }
    url = target
  }
}
