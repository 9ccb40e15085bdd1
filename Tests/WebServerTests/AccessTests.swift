import TestSupport
import Testing

@testable import WebServer

@Suite struct AccessTests {
  private static let port = WebAddress.tcp(host: "127.0.0.1", port: 8025)
  private static let unix = WebAddress.unix(path: "/run/mooring/web.sock")
  private static let access: Access = {
    var random = SeededRandom(seed: 1)
    return Access(allowedHosts: ["Feeds.example.org", "nas:9000"], using: &random)
  }()
  private static let token = String(access.url(at: port)!.suffix(64))
  /// The cookie of a browser that has opened the URL.
  private static let cookie: String = {
    let request = WebRequest(
      query: [("token", token)], headers: [("Host", "localhost:8025")])
    guard case .redirected(_, let cookie) = access.decide(request, at: port) else { return "" }
    return String(cookie.prefix { $0 != ";" })
  }()

  /// The status of the refusal; 200 if the request is allowed, 303 if it is redirected.
  private func status(_ request: WebRequest, at address: WebAddress = port) -> Int {
    switch Self.access.decide(request, at: address) {
    case .allowed: 200
    case .redirected: 303
    case .refused(let refusal): refusal.status
    }
  }

  @Test(arguments: [
    ("127.0.0.1:8025", 200), ("localhost:8025", 200), ("LOCALHOST:8025", 200), ("[::1]:8025", 200),
    ("feeds.example.org", 200), ("feeds.example.org:443", 200), ("nas:9000", 200),
    ("nas", 421), ("nas:8025", 421), ("localhost", 421), ("localhost:80", 421),
    ("evil.example:8025", 421), ("127.0.0.1.evil.example:8025", 421), ("0.0.0.0:8025", 421),
    ("localhost:", 400), ("localhost:x", 400), ("", 400), (":8025", 400), ("[::1", 400),
  ])
  func aPortAcceptsItsOwnAndAllowedHostsOnly(host: String, status: Int) {
    let headers = [("Host", host), ("Cookie", Self.cookie)]
    #expect(self.status(WebRequest(headers: headers)) == status)
    #expect(
      self.status(WebRequest(query: [("token", Self.token)], headers: [("Host", host)]))
        == (status == 200 ? 303 : status))
  }

  @Test func theTokenOfTheURLBecomesACookieAndLeavesTheURL() {
    let request = WebRequest(
      path: "/feeds/a b", query: [("q", "ü&="), ("token", Self.token), ("page", "2")],
      headers: [("Host", "localhost:8025")])
    guard case .redirected(let target, let cookie) = Self.access.decide(request, at: Self.port)
    else { return #expect(Bool(false)) }
    #expect(target == "/feeds/a%20b?q=%C3%BC%26%3D&page=2")
    #expect(cookie.hasPrefix("mooring-8025="))
    #expect(cookie.hasSuffix("; HttpOnly; SameSite=Strict; Path=/"))
    #expect(!cookie.contains(Self.token))
  }

  @Test func aPortNeedsTheTokenOrTheSession() {
    let session = String(Self.cookie.dropFirst("mooring-8025=".count))
    let cases: [(String, String, Int)] = [
      ("X", "", 401), ("Cookie", Self.cookie, 200), ("Cookie", "a=b; \(Self.cookie); c=d", 200),
      ("Cookie", "mooring-8026=\(session)", 401), ("Cookie", "mooring-8025=\(Self.token)", 401),
      ("Cookie", "mooring-8025=", 401), ("Cookie", String(Self.cookie.dropLast()), 401),
      ("Cookie", Self.cookie + "0", 401), ("Cookie", "x\(Self.cookie)", 401),
      ("Authorization", "Bearer \(Self.token)", 200),
      ("Authorization", "bearer \(Self.token)", 200),
      ("Authorization", "Bearer \(session)", 401), ("Authorization", "Basic \(Self.token)", 401),
      ("Authorization", "Bearer \(Self.token.uppercased())", 401), ("Authorization", "Bearer", 401),
    ]
    for (name, value, status) in cases {
      let request = WebRequest(headers: [("Host", "localhost:8025"), (name, value)])
      #expect(self.status(request) == status, "\(name): \(value)")
    }
    let wrong = WebRequest(
      query: [("token", String(repeating: "0", count: 64))], headers: [("Host", "localhost:8025")])
    #expect(status(wrong) == 401)
  }

  private static let forms: [(WebAddress, String, String?, Bool, Int)] = [
    (port, "localhost:8025", "http://localhost:8025", true, 200),
    (port, "localhost:8025", nil, true, 403), (port, "localhost:8025", "null", true, 403),
    (port, "localhost:8025", "https://localhost:8025", true, 403),
    (port, "localhost:8025", "http://localhost:80", true, 403),
    (port, "localhost:8025", "http://evil.example", true, 403),
    (port, "localhost:8025", "http://localhost:8025", false, 403),
    (port, "feeds.example.org", "https://feeds.example.org", true, 200),
    (unix, "x", nil, true, 200), (unix, "x", "https://x", true, 200),
    (unix, "x", nil, false, 403),
    (unix, "x", "http://y", true, 403), (unix, "x", "null", true, 403),
  ]

  @Test(arguments: forms)
  func aFormNeedsItsOriginAndItsToken(
    address: WebAddress, host: String, origin: String?, hasToken: Bool, status: Int
  ) {
    var headers = [("Host", host), ("Cookie", Self.cookie)]
    if let origin { headers.append(("Origin", origin)) }
    let csrf = hasToken ? Self.access.csrf : String(repeating: "0", count: 64)
    let request = WebRequest(method: "POST", headers: headers, form: [("csrf", csrf)])
    #expect(self.status(request, at: address) == status)
  }

  @Test func aFormIsNotAuthorizedByATokenInItsURL() {
    let request = WebRequest(
      method: "POST", query: [("token", Self.token)],
      headers: [("Host", "localhost:8025"), ("Origin", "http://localhost:8025")],
      form: [("csrf", Self.access.csrf)])
    #expect(status(request) == 401)
  }

  @Test func aSocketNeedsNoToken() {
    #expect(status(WebRequest(headers: [("Host", "anything")]), at: Self.unix) == 200)
    #expect(Self.access.url(at: Self.unix) == nil)
  }

  @Test func theBoundAddressIsAHostUnlessItIsAWildcard() {
    for (host, status) in [("192.0.2.1", 200), ("0.0.0.0", 421), ("::", 421), ("fe80::1", 200)] {
      let address = WebAddress.tcp(host: host, port: 80)
      let request = WebRequest(
        headers: [("Host", address.urlHost!), ("Authorization", "Bearer \(Self.token)")])
      #expect(self.status(request, at: address) == status)
    }
  }

  @Test func theSecretsDifferAndHave256Bits() {
    let session = String(Self.cookie.suffix(64))
    #expect(Set([Self.token, session, Self.access.csrf]).count == 3)
    for secret in [Self.token, session, Self.access.csrf] {
      #expect(secret.utf8.count == 64 && secret.allSatisfy(\.isHexDigit))
    }
  }
}
