import Foundation
import LoopbackHTTP
import SystemSupport
import Testing

@testable import HTTPClient

@Suite struct CurlTransportRedirectTests {
  private let secrets: [(name: String, value: String)] = [
    ("Authorization", "Bearer s"), ("Cookie", "c=s"), ("X-Api-Key", "s"),
    ("If-None-Match", "\"s\""), ("If-Modified-Since", "Sun, 06 Nov 1994 08:49:37 GMT"),
    ("X-Own-Token", "s"), ("Accept", "application/json"),
  ]

  @Test func aRedirectWithinTheOriginKeepsSecrets() async throws {
    try await withServer { request, connection in
      try connection.send(
        request.path == "/old"
          ? Response(status: 301, headers: [("Location", "new?x"), ("ETag", "\"old\"")])
          : Response(text: "ok"))
    } test: { server, transport in
      let response = try await transport.send(
        HTTPRequest(url: server.url + "/old", headers: secrets))
      #expect(response.body.text == "ok")
      #expect(response.header("ETag") == nil)
      #expect(response.requests == 2)
      #expect(
        response.redirects == [
          .init(status: 301, from: server.url + "/old", to: server.url + "/new?x")
        ])
      #expect(response.effectiveURL == server.url + "/new?x")
      let last = try #require(server.requests.last)
      for (name, value) in secrets { #expect(last.header(name) == value) }
    }
  }

  /// Case 24: libcurl would send API keys and validators on.
  @Test func secretsDoNotFollowToAnotherOrigin() async throws {
    let other = try LoopbackServer { _, connection in try connection.send(Response(text: "ok")) }
    defer { other.stop() }
    try await withServer { _, connection in
      try connection.send(
        Response(status: 302, headers: [("Location", other.url), ("Set-Cookie", "c=s")]))
    } test: { server, transport in
      let host = server.url.dropFirst("http://".count)
      _ = try await transport.send(
        HTTPRequest(
          url: "http://user:s@\(host)/", headers: secrets.filter { $0.name != "Authorization" }))
      let sent = try #require(other.requests.first)
      #expect(sent.header("Accept") == "application/json")
      for (name, _) in secrets where name != "Accept" { #expect(sent.header(name) == nil) }
    }
  }

  /// Not even headers whose names follow a redirect otherwise.
  @Test(arguments: ["http://user:p@", "http://"])
  func noSecretHeaderFollowsToAnotherOriginOrComesBack(_ scheme: String) async throws {
    let names = ["Authorization", "Accept-Language", "Pragma", "X-Own"]
    let home = Locked("")
    let other = try LoopbackServer { _, connection in
      try connection.send(
        Response(status: 302, headers: [("Location", home.withLock { $0 } + "/back")]))
    }
    defer { other.stop() }
    try await withServer { request, connection in
      try connection.send(
        request.path == "/back"
          ? Response(text: "ok")
          : Response(
            status: 302,
            headers: [("Location", request.path == "/" ? "/own" : other.url + "/other")]))
    } test: { server, transport in
      home.withLock { $0 = server.url }
      var request = HTTPRequest(
        url: scheme + server.url.dropFirst("http://".count) + "/", headers: [("Accept", "x/y")])
      request.secretHeaders = names.map { ($0, "s3cret") }
      #expect(try await transport.send(request).body.text == "ok")
      #expect(server.requests.map(\.path) == ["/", "/own", "/back"])
      for (sent, isSecret) in zip(server.requests, [true, true, false]) {
        #expect(names.allSatisfy { (sent.header($0) == "s3cret") == isSecret })
      }
      let sent = try #require(other.requests.first)
      #expect(names.allSatisfy { sent.header($0) == nil })
      #expect(sent.header("Accept") == "x/y")
    }
  }

  @Test func aSecretHeaderThatCannotBeSentIsAnError() async throws {
    try await withServer { _, connection in
      try connection.send(Response())
    } test: { server, transport in
      var request = HTTPRequest(url: server.url)
      request.secretHeaders = [("X-Key", "s3cret\r\nX: y")]
      let error = await expectFailure(.invalidHeader, of: transport, request)
      #expect(error?.description.contains("s3cret") == false)
      #expect(server.requests.isEmpty)
    }
  }

  /// Case 28: redirects in a circle.
  @Test func aLoopEndsAtOnce() async throws {
    try await withServer { request, connection in
      let next = request.path == "/a" ? "/b" : "/a"
      try connection.send(Response(status: 302, headers: [("Location", next)]))
    } test: { server, transport in
      await expectFailure(
        .tooManyRedirects, of: transport, HTTPRequest(url: server.url + "/a"))
      #expect(server.requests.count == 2)
    }
  }

  /// Case 28: redirects without end.
  @Test func endlessRedirectsEndAfterFive() async throws {
    try await withServer { request, connection in
      try connection.send(Response(status: 307, headers: [("Location", request.path + "x")]))
    } test: { server, transport in
      await expectFailure(.tooManyRedirects, of: transport, HTTPRequest(url: server.url + "/"))
      #expect(server.requests.count == 6)
    }
  }

  /// Cases 25 to 27: other protocols. The request's own URL was right.
  @Test(arguments: ["ftp://127.0.0.1:1/x", "file:///etc/hostname", "http://[bad/"])
  func aTargetThatIsNotHTTPIsTheServersFault(target: String) async throws {
    try await withServer { _, connection in
      try connection.send(Response(status: 302, headers: [("Location", target)]))
    } test: { server, transport in
      let error = await expectFailure(.badRedirect, of: transport, HTTPRequest(url: server.url))
      #expect(error?.context.contains("\(server.url)/ to \(target.prefix(7))") == true)
    }
  }

  @Test func aFailureCountsTheRequestsBeforeIt() async throws {
    try await withServer { request, connection in
      if request.path == "/cut" { return connection.close() }
      try connection.send(Response(status: 302, headers: [("Location", "/cut")]))
    } test: { server, transport in
      let error = await expectFailure(.truncated, of: transport, HTTPRequest(url: server.url))
      #expect(error?.requests == 2 && error?.isAfterRedirect == true)
      #expect((error?.wireBytes ?? 0) > 0)
    }
  }

  @Test func aRedirectWithoutTargetIsAnAnswer() async throws {
    try await withServer { _, connection in
      try connection.send(Response(status: 302, text: "where?"))
    } test: { server, transport in
      let response = try await transport.send(HTTPRequest(url: server.url))
      #expect(response.status == 302)
      #expect(response.redirects.isEmpty)
    }
  }

  /// Case 41: the socket is the place to look, after names and odd numbers are resolved.
  @Test(arguments: ["127.0.0.1", "2130706433", "0x7f.1", "127.1", "[::ffff:127.0.0.1]", "0"])
  func aPrivateAddressIsRefusedHoweverItIsWritten(host: String) async throws {
    try await withServer { _, connection in
      try connection.send(Response())
    } test: { server, transport in
      await expectFailure(
        .refusedAddress, of: transport,
        HTTPRequest(url: "http://\(host):\(server.port)/", allowsPrivateAddresses: false))
      // The server's first connection comes from somebody else: the refusal was before connecting.
      let other = try CurlTransport()
      _ = try await other.send(HTTPRequest(url: server.url))
      #expect(server.requests.map(\.connection) == [1])
    }
  }

  @Test func anOpenConnectionToAPrivateAddressIsRefusedToo() async throws {
    try await withServer { _, connection in
      try connection.send(Response())
    } test: { server, transport in
      _ = try await transport.send(HTTPRequest(url: server.url))
      await expectFailure(
        .refusedAddress, of: transport,
        HTTPRequest(url: server.url, allowsPrivateAddresses: false))
      #expect(server.requests.count == 1)
    }
  }
}
