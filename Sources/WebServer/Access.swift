/// The secrets of one server and its decision on each request: allowed or not. A value without
/// input and output.
///
/// On a unix socket the permissions of the socket decide. A TCP port is open to all users and, by a
/// browser, to all web pages: so each request needs the token or the session that was given for
/// it, and a name of this server as its host, since the name of an attacker could lead here as well
/// (DNS rebinding). A form needs an origin and a token that another page cannot have.
package struct Access: Sendable {
  /// The value of the field `csrf` that each form must have.
  package let csrf: String
  private let token: String
  private let session: String
  private let allowedHosts: [String]

  /// Creates the secrets, of 256 bits each.
  ///
  /// - Parameter allowedHosts: Further names by which clients may address the server: `name`, with
  ///   any port, or `name:port`.
  /// - Parameter random: A cryptographic generator, such as the system's.
  package init(allowedHosts: [String] = [], using random: inout some RandomNumberGenerator) {
    func secret() -> String {
      (0..<4).map { _ in
        let digits = String(random.next(), radix: 16)
        return String(repeating: "0", count: 16 - digits.count) + digits
      }.joined()
    }
    (token, session, csrf) = (secret(), secret(), secret())
    self.allowedHosts = allowedHosts.map { $0.lowercased() }
  }

  /// Returns the URL that opens the server in a browser, with the token; nil for a unix socket.
  package func url(at address: WebAddress) -> String? {
    address.urlHost == nil ? nil : "http://\(address)/?token=\(token)"
  }

  enum Decision: Equatable {
    case allowed
    /// The token was in the URL: the session replaces it, so that it stays in no history.
    case redirected(to: String, cookie: String)
    case refused(Refusal)
  }

  func decide(_ request: WebRequest, at address: WebAddress) -> Decision {
    guard let hostText = request.header("host")?.lowercased(), let host = WebHost(hostText) else {
      return .refused(Refusal(400, "the Host header cannot be read"))
    }
    if case .tcp(_, let port) = address {
      guard isOwn(host, at: address) || isAllowed(hostText, host) else {
        return .refused(
          Refusal(421, "the server does not know this host name; --allow-host NAME allows it"))
      }
      if request.method != "POST", matches(request.value(of: "token"), token) {
        return .redirected(
          to: FormText.target(
            path: request.path, query: request.query.filter { $0.name != "token" }),
          cookie: "\(cookieName(port))=\(session); HttpOnly; SameSite=Strict; Path=/")
      }
      guard isAuthorized(request, port) else {
        return .refused(
          Refusal(401, "open the URL that `mooring serve` has printed; it contains the token"))
      }
    }
    guard request.method == "POST" else { return .allowed }
    return decideForm(request, hostText, host, at: address)
  }

  private func decideForm(
    _ request: WebRequest, _ hostText: String, _ host: WebHost, at address: WebAddress
  ) -> Decision {
    let origin = request.header("origin")?.lowercased()
    let isOwnOrigin: Bool
    if address.urlHost == nil {
      // Clients other than browsers send none. A proxy may add TLS.
      isOwnOrigin = origin == nil || ["http://", "https://"].contains { origin == $0 + hostText }
    } else {
      isOwnOrigin =
        origin == "http://" + hostText
        || (origin == "https://" + hostText && isAllowed(hostText, host))
    }
    guard isOwnOrigin else { return .refused(Refusal(403, "the form is of another page")) }
    guard matches(request.field("csrf"), csrf) else {
      return .refused(Refusal(403, "the form is out of date; load the page again"))
    }
    return .allowed
  }

  // MARK: Hosts

  /// True for a name of this machine or the address to which the server is bound, with its port.
  private func isOwn(_ host: WebHost, at address: WebAddress) -> Bool {
    guard case .tcp(let bound, let port) = address, host.port ?? 80 == port else { return false }
    let names = ["127.0.0.1", "localhost", "[::1]"]
    let isWildcard = bound == "0.0.0.0" || bound == "::"
    return names.contains(host.name) || (!isWildcard && address.urlHost?.lowercased() == host.name)
  }

  private func isAllowed(_ text: String, _ host: WebHost) -> Bool {
    allowedHosts.contains(text) || allowedHosts.contains(host.name)
  }

  // MARK: Secrets

  private func isAuthorized(_ request: WebRequest, _ port: UInt16) -> Bool {
    if let words = request.header("authorization")?.split(separator: " "), words.count == 2,
      words[0].lowercased() == "bearer", matches(String(words[1]), token)
    {
      return true
    }
    let prefix = cookieName(port) + "="
    return request.headers.filter { $0.name.lowercased() == "cookie" }
      .flatMap { $0.value.split(whereSeparator: { $0 == ";" || $0 == " " }) }
      .contains { $0.hasPrefix(prefix) && matches(String($0.dropFirst(prefix.count)), session) }
  }

  /// Cookies do not distinguish ports, so that the name does.
  private func cookieName(_ port: UInt16) -> String { "mooring-\(port)" }

  /// Compares with a secret in a time that depends on its length only.
  private func matches(_ given: String?, _ secret: String) -> Bool {
    guard let given, given.utf8.count == secret.utf8.count else { return false }
    return zip(given.utf8, secret.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
  }
}
