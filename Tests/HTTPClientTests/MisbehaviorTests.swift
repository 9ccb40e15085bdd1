import Foundation
import LoopbackHTTP
import SystemSupport
import TestSupport
import Testing

@testable import HTTPClient

/// Servers and middle boxes that misbehave: the measured behavior of libcurl, and how it is
/// handled. The other cases are in the suites of bodies, headers, redirects and flow; each test
/// names its case.
@Suite struct MisbehaviorTests {
  // MARK: Bodies

  /// Cases 3, 4: a small body on the wire that is a huge one.
  @Test func aBombTakesLittleMoreMemoryThanTheCap() throws {
    let bomb = try gzip { try $0.truncate(atOffset: 256 << 20) }
    let server = try LoopbackServer { request, connection in
      if request.path == "/small" { return try connection.send(Response(text: "ok")) }
      try connection.send(Response(headers: [("Content-Encoding", "gzip")], body: bomb))
    }
    defer { server.stop() }
    let cap = 16 << 20
    let child = try ChildProcess(
      childExecutable(named: "store-child"),
      ["fetch-url", server.url + "/small", server.url + "/bomb", String(cap)])
    let line = try #require(child.readLine(), "\(child.readErrors())")
    #expect(child.waitForExit() == .init(status: 0, wasSignal: false))
    let parts = line.split(separator: " ")
    #expect(parts.first == "tooLarge")
    let grown = try #require(parts.last.flatMap { Int($0) })
    #expect(grown > cap / 2, "the test would not see it")
    #expect(isSanitized || grown <= cap + (8 << 20))
  }

  /// Case 5: a bomb within a bomb.
  @Test func aNestedBombIsCutOffAtTheCap() async throws {
    let inner = try gzip { try $0.truncate(atOffset: 64 << 20) }
    let bomb = try gzip { try $0.write(contentsOf: Data(inner)) }
    try await withServer { _, connection in
      try connection.send(Response(headers: [("Content-Encoding", "gzip, gzip")], body: bomb))
    } test: { server, transport async throws in
      await expectFailure(
        .tooLarge, of: transport, HTTPRequest(url: server.url, decodedBytesMax: 1 << 20))
    }
  }

  /// Case 6: more encodings than anybody means.
  @Test func sevenEncodingsOnTopOfEachOtherAreRefused() async throws {
    let packed = try (0..<7).reduce(Array("hello".utf8)) { bytes, _ in
      try gzip { try $0.write(contentsOf: Data(bytes)) }
    }
    let coding = [String](repeating: "gzip", count: 7).joined(separator: ", ")
    try await withServer { _, connection in
      try connection.send(Response(headers: [("Content-Encoding", coding)], body: packed))
    } test: { server, transport async throws in
      await expectFailure(.badEncoding, of: transport, HTTPRequest(url: server.url))
      #expect(server.requests.count == 2)
    }
  }

  /// Case 49: a truncated deflate stream. It looks complete: only the document's end shows it.
  @Test func aCutDeflateStreamIsNoLongerThanItsCut() async throws {
    // A stored block of 1,000 bytes, of which 500 follow.
    let block: [UInt8] =
      [0x78, 0x01, 0x01, 0xE8, 0x03, 0x17, 0xFC] + [UInt8](repeating: 65, count: 500)
    try await withServer { _, connection in
      try connection.send(Response(headers: [("Content-Encoding", "deflate")], body: block))
    } test: { server, transport async throws in
      do {
        #expect(try await transport.send(HTTPRequest(url: server.url)).body.count <= 500)
      } catch let error as HTTPError {
        #expect(error.code == .badEncoding || error.code == .truncated)
      }
    }
  }

  /// Case 15: a truncated body that ends with its connection. It looks complete, too.
  @Test func aTruncatedBodyWithoutALengthLooksComplete() async throws {
    try await withServer { _, connection in
      try connection.sendRaw("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"format\":")
      connection.close()
    } test: { server, transport async throws in
      let response = try await transport.send(HTTPRequest(url: server.url))
      #expect(response.status == 200 && response.body.text == "{\"format\":")
    }
  }

  // MARK: Conditions

  /// Cases 17, 46, 18: no local date is sent, and an older document is accepted: libcurl's own
  /// conditions would turn it into a 304.
  @Test func anAnswerThatIsOlderThanOursIsAnAnswer() async throws {
    try await withServer { _, connection in
      try connection.send(
        Response(headers: [("Last-Modified", "Thu, 01 Jan 1998 00:00:00 GMT")], text: "old"))
    } test: { server, transport async throws in
      let date = "Tue, 01 Jan 2030 00:00:00 GMT"
      let response = try await transport.send(
        HTTPRequest(
          url: server.url + "/",
          conditions: HTTPConditions(url: server.url + "/", lastModified: date)))
      #expect(response.status == 200 && response.body.text == "old")
      #expect(server.requests.first?.header("If-Modified-Since") == date)
    }
  }

  /// Case 23: the validators of a redirect are not those of its target.
  @Test func validatorsAreSentToTheirURLAfterARedirectToo() async throws {
    try await withServer { request, connection in
      if request.path == "/old" {
        return try connection.send(
          Response(status: 301, headers: [("Location", "/new"), ("ETag", "\"redirect\"")]))
      }
      let isKnown = request.header("If-None-Match") == "W/\"a,b\""
      try connection.send(
        Response(status: isKnown ? 304 : 200, headers: [("ETag", "\"2\"")], text: "x"))
    } test: { server, transport async throws in
      let conditions = HTTPConditions(url: server.url + "/new", etag: "W/\"a,b\"")
      let response = try await transport.send(
        HTTPRequest(url: server.url + "/old", conditions: conditions))
      #expect(response.status == 304 && response.header("ETag") == "\"2\"")
      #expect(server.requests.map { $0.header("If-None-Match") } == [nil, "W/\"a,b\""])
      // And not to a URL that they are not of.
      _ = try await transport.send(
        HTTPRequest(url: server.url + "/other", conditions: conditions))
      #expect(server.requests.last?.header("If-None-Match") == nil)
    }
  }

  /// Case 24: validators follow neither to another origin, unless they are its own.
  @Test func validatorsOfAnotherOriginReachOnlyIt() async throws {
    let other = try LoopbackServer { _, connection in try connection.send(Response(status: 304)) }
    defer { other.stop() }
    try await withServer { _, connection in
      try connection.send(Response(status: 302, headers: [("Location", other.url + "/feed")]))
    } test: { server, transport async throws in
      for (url, sent) in [(other.url + "/feed", "\"1\""), (server.url + "/", nil)] {
        _ = try await transport.send(
          HTTPRequest(
            url: server.url + "/x", conditions: HTTPConditions(url: url, etag: "\"1\"")))
        #expect(server.requests.last?.header("If-None-Match") == nil)
        #expect(other.requests.last?.header("If-None-Match") == sent)
      }
    }
  }

  /// Case 50: a 304 that claims to be compressed.
  @Test func aNotModifiedAnswerWithAnEncodingIsOne() async throws {
    try await withServer { _, connection in
      try connection.send(
        Response(status: 304, headers: [("Content-Encoding", "gzip"), ("ETag", "\"q\"")]))
    } test: { server, transport async throws in
      let response = try await transport.send(HTTPRequest(url: server.url))
      #expect(response.status == 304 && response.header("ETag") == "\"q\"")
      #expect(server.requests.count == 1)
    }
  }

  // MARK: Headers

  /// Case 34: lines that end with a line feed alone.
  @Test func lineFeedsAloneEndLinesToo() async throws {
    try await withServer { _, connection in
      try connection.sendRaw("HTTP/1.1 200 OK\nETag: \"1\"\nContent-Length: 2\n\nok")
    } test: { server, transport async throws in
      let response = try await transport.send(HTTPRequest(url: server.url))
      #expect(response.header("ETag") == "\"1\"" && response.body.text == "ok")
    }
  }

  /// Cases 20 to 22: a wait that is none.
  @Test(arguments: ["-5", "", "soon"])
  func aRetryAfterThatCannotBeReadIsNone(_ text: String) async throws {
    try await withServer { _, connection in
      try connection.send(Response(status: 503, headers: [("Retry-After", text)]))
    } test: { server, transport async throws in
      #expect(try await transport.send(HTTPRequest(url: server.url)).retryAfter == nil)
    }
  }

  /// Cases 38 to 40: no download is resumed in the middle, so no range is requested.
  @Test func noPartOfADocumentIsAskedFor() async throws {
    try await withServer { _, connection in
      try connection.sendRaw("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nx")
      connection.close()
    } test: { server, transport async throws in
      for _ in 0..<2 {
        await expectFailure(.truncated, of: transport, HTTPRequest(url: server.url))
      }
      #expect(server.requests.allSatisfy { $0.header("Range") == nil })
    }
  }

  /// Cookies and referrers would make a feed reader trackable.
  @Test func noCookieAndNoReferrerIsEverSent() async throws {
    try await withServer {
      $0.userAgent = UserAgent.text(contact: "https://example.org/about")
    } handler: { request, connection in
      try connection.send(
        request.path == "/a"
          ? Response(status: 302, headers: [("Location", "/b"), ("Set-Cookie", "c=1")])
          : Response(headers: [("Set-Cookie", "c=2")], text: "ok"))
    } test: { server, transport async throws in
      for _ in 0..<2 { _ = try await transport.send(HTTPRequest(url: server.url + "/a")) }
      #expect(server.requests.map(\.target) == ["/a", "/b", "/a", "/b"])
      for request in server.requests {
        #expect(request.header("Cookie") == nil && request.header("Referer") == nil)
        #expect(request.header("User-Agent") == "mooring/0.1 (+https://example.org/about)")
      }
    }
  }

  // MARK: Reports

  @Test func everyRequestIsReportedWithoutSecrets() async throws {
    let exchanges = Locked<[HTTPExchange]>([])
    try await withServer {
      $0.onExchange = { exchange in exchanges.withLock { $0.append(exchange) } }
    } handler: { request, connection in
      switch request.path {
      case "/old": try connection.send(Response(status: 301, headers: [("Location", "/new?key=s")]))
      case "/cut": connection.close()
      default: try connection.send(Response(status: 304))
      }
    } test: { server, transport async throws in
      let conditions = HTTPConditions(
        url: server.url + "/new?key=s", etag: "\"1\"", lastModified: "then")
      let host = server.url.dropFirst("http://".count)
      _ = try await transport.send(
        HTTPRequest(url: "http://u:p@\(host)/old?token=s", conditions: conditions))
      await expectFailure(.truncated, of: transport, HTTPRequest(url: server.url + "/cut"))
      let reported = exchanges.withLock { $0 }
      #expect(reported.map(\.method) == ["GET", "GET", "GET"])
      #expect(
        reported.map(\.url) == [
          server.url + "/old?token=…", server.url + "/new?key=…", server.url + "/cut",
        ])
      #expect(reported.map(\.status) == [301, 304, nil])
      #expect(reported.map(\.failure) == [nil, nil, .truncated])
      #expect(
        reported.map(\.conditions) == [[], ["If-None-Match", "If-Modified-Since"], []])
      #expect(reported.map(\.redirectedFrom) == [nil, server.url + "/old?token=…", nil])
      // libcurl asks once more on a new connection when one that was kept ends without an answer.
      #expect(reported.map(\.isReused) == [false, true, false])
      #expect(reported.map(\.version) == ["1.1", "1.1", nil])
      #expect(reported[0].wireBytes > 0)
    }
  }
}
