import Testing

@testable import HTTPClient

@Suite struct RouteTests {
  private let publicAddress = IPAddress(text: "8.8.8.8")
  private let privateAddress = IPAddress(text: "192.168.1.2")

  private func route(_ url: String, redirectsMax: Int = 5) throws -> Route {
    try Route(
      HTTPRequest(
        url: url,
        headers: [
          ("Accept", "*/*"), ("authorization", "Bearer s"), ("Cookie", "s"), ("X-Api-Key", "s"),
          ("If-None-Match", "\"1\""), ("If-Modified-Since", "s"), ("X-Own-Token", "s"),
        ]), redirectsMax: redirectsMax)
  }

  @Test func aRedirectWithinTheOriginKeepsEverything() throws {
    var route = try route("http://u:p@a.example/1")
    try route.follow(status: 301, to: "http://A.example:80/2#part", from: publicAddress)
    #expect(route.url.text == "http://A.example:80/2")
    #expect(route.headers.count == 7)
    #expect(route.credentials == WebURL.Credentials(user: "u", password: "p"))
    #expect(
      route.redirects == [
        .init(status: 301, from: "http://a.example/1", to: "http://A.example:80/2")
      ])
  }

  @Test(arguments: ["http://b.example/", "http://a.example:81/", "https://a.example/"])
  func secretsNeverCrossAnOriginAndNeverComeBack(target: String) throws {
    var route = try route("http://u:p@a.example/1")
    try route.follow(status: 302, to: target, from: publicAddress)
    #expect(route.headers.map(\.name) == ["Accept"])
    #expect(route.credentials == nil)
    if !target.hasPrefix("https") {
      try route.follow(status: 302, to: "http://a.example/2", from: publicAddress)
      #expect(route.headers.map(\.name) == ["Accept"])
      #expect(route.credentials == nil)
    }
  }

  @Test func credentialsThatARedirectNamesAreDropped() throws {
    var route = try route("http://a.example/1")
    try route.follow(status: 302, to: "http://x:y@a.example/2", from: publicAddress)
    #expect(route.url.text == "http://a.example/2")
    #expect(route.credentials == nil)
  }

  @Test func theAnswerReportsTheAddressOfTheFirstHost() throws {
    let answer = HTTPResponse(status: 200, effectiveURL: "http://a.example/1")
    let direct = try route("http://a.example/1")
    #expect(direct.finish(answer, from: publicAddress).isHostPublic)
    #expect(!direct.finish(answer, from: privateAddress).isHostPublic)
    #expect(!direct.finish(answer, from: nil).isHostPublic)
    for (first, second, isPublic) in [
      (publicAddress, publicAddress, true), (privateAddress, publicAddress, false),
      (nil, publicAddress, false),
    ] {
      var redirected = direct
      try redirected.follow(status: 301, to: "http://b.example/1", from: first)
      try redirected.follow(status: 301, to: "http://c.example/1", from: publicAddress)
      #expect(redirected.finish(answer, from: second).isHostPublic == isPublic)
    }
  }

  @Test func httpsNeverFallsToHTTP() throws {
    var route = try route("https://a.example/1")
    expect(.insecureRedirect) {
      try route.follow(status: 301, to: "http://a.example/1", from: publicAddress)
    }
    #expect(route.redirects.isEmpty)
  }

  @Test func aLoopIsFoundAtItsFirstRepetition() throws {
    var route = try route("http://a.example/1")
    expect(.tooManyRedirects) {
      try route.follow(status: 302, to: "http://a.example/1#x", from: publicAddress)
    }
    try route.follow(status: 302, to: "http://a.example/2", from: publicAddress)
    expect(.tooManyRedirects) {
      try route.follow(status: 302, to: "http://a.example/1", from: publicAddress)
    }
  }

  @Test func redirectsAreCounted() throws {
    var route = try route("http://a.example/0", redirectsMax: 2)
    try route.follow(status: 302, to: "http://a.example/1", from: publicAddress)
    try route.follow(status: 302, to: "http://a.example/2", from: publicAddress)
    expect(.tooManyRedirects) {
      try route.follow(status: 302, to: "http://a.example/3", from: publicAddress)
    }
  }

  @Test(arguments: ["ftp://a.example/", "file:///etc/hostname", "gopher://a.example/"])
  func onlyHTTPIsFollowed(target: String) throws {
    var route = try route("http://a.example/")
    expect(.badRedirect) {
      try route.follow(status: 302, to: target, from: publicAddress)
    }
  }

  @Test func onlyAPrivateHostMaySendToAPrivateAddress() throws {
    var route = try route("http://nas.example/1")
    #expect(route.allows(privateAddress))
    try route.follow(status: 302, to: "http://nas.example/2", from: privateAddress)
    #expect(route.allows(privateAddress))
    try route.follow(status: 302, to: "http://b.example/", from: privateAddress)
    #expect(route.allows(privateAddress))
    try route.follow(status: 302, to: "http://nas.example/3", from: publicAddress)
    #expect(!route.allows(privateAddress))
    try route.follow(status: 302, to: "http://nas.example/4", from: privateAddress)
    #expect(!route.allows(privateAddress))
  }

  @Test func onlyTheOperatorMayChooseALinkLocalAddress() throws {
    for text in ["169.254.169.254", "fe80::1", "::ffff:169.254.1.1", "64:ff9b::169.254.1.1"] {
      let address = try #require(IPAddress(text: text))
      var route = try route("http://a.example/1")
      #expect(address.isLinkLocal && route.allows(address))
      try route.follow(status: 302, to: "http://a.example/2", from: privateAddress)
      #expect(route.allows(address))
      try route.follow(status: 302, to: "http://b.example/", from: privateAddress)
      #expect(!route.allows(address) && route.allows(privateAddress), "\(text)")
      try route.follow(status: 302, to: "http://a.example/3", from: privateAddress)
      #expect(!route.allows(address), "the other host chose it")
    }
    for text in ["169.253.255.255", "10.0.0.1", "fec0::1", "fd00::1", "::1", "8.8.8.8"] {
      #expect(try #require(IPAddress(text: text)).isLinkLocal == false)
    }
  }

  @Test func anUnknownAddressCountsAsPublic() throws {
    var route = try route("http://a.example/1")
    try route.follow(status: 302, to: "http://a.example/2", from: nil)
    #expect(!route.allows(privateAddress))
  }

  @Test(arguments: [
    ("X", "a\r\nY: b"), ("X", "a\nb"), ("X", "a\u{0}b"), ("X", "a\u{7F}"), ("X Y", "a"),
    ("X:", "a"), ("", "a"), ("X\r\nY", "a"), ("Ü", "a"), ("Content-Length", "1"), ("host", "x"),
  ])
  func aHeaderThatCannotBeSentIsRefused(name: String, value: String) {
    expect(.invalidHeader) {
      _ = try Route(
        HTTPRequest(url: "http://a.example/", headers: [(name, value)]), redirectsMax: 5)
    }
  }

  @Test func aRefusedHeaderIsNotQuoted() throws {
    let error = #expect(throws: HTTPError.self) {
      try validateRequestHeaders([("Authorization", "Bearer secret\n")])
    }
    #expect(error?.description.contains("secret") == false)
  }
}

@Suite struct WebURLTests {
  @Test func aURLIsTakenApartAsLibcurlReadsIt() throws {
    let url = try WebURL("HTTP://us%20er:p%40ss@Feeds.Example:8080/a/../b?q=1&r#part")
    #expect(url.text == "http://Feeds.Example:8080/b?q=1&r")
    #expect(url.origin == WebURL.Origin(scheme: "http", host: "feeds.example", port: "8080"))
    #expect(url.credentials == WebURL.Credentials(user: "us er", password: "p@ss"))
    #expect(try WebURL("https://a.example").origin.port == "443")
    #expect(try WebURL("https://a.example").credentials == nil)
  }

  @Test(arguments: ["", "a.example/feed", "http://", "http://a b/", "http://a\r\nb/", "/feed"])
  func whatIsNoAbsoluteURLIsRefused(text: String) {
    expect(.invalidURL) { _ = try WebURL(text) }
  }

  @Test(arguments: ["ftp://a.example/", "file:///etc/hostname", "mooring://x/y"])
  func whatIsNeitherHTTPNorHTTPSIsRefused(text: String) {
    expect(.unsupportedProtocol) { _ = try WebURL(text) }
  }

  @Test(arguments: ["ftp://user:secret@a.example/x?y", "http://user:secret@a b/x?y"])
  func noErrorNamesAPassword(text: String) throws {
    let error = #expect(throws: HTTPError.self) { try WebURL(text) }
    #expect(error?.description.contains("secret") == false)
    #expect(error?.description.contains("/x?y") == true)
  }
}

/// Expects an ``HTTPError`` with the code.
func expect(
  _ code: HTTPError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws -> Void
) {
  let error = #expect(throws: HTTPError.self, sourceLocation: sourceLocation) { try body() }
  #expect(error?.code == code, sourceLocation: sourceLocation)
}
