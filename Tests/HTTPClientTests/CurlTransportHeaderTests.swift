import Foundation
import LoopbackHTTP
import Testing

@testable import HTTPClient

@Suite struct CurlTransportHeaderTests {
  /// Case 36: a hint before the answer.
  @Test func hintsBeforeTheAnswerAreIgnored() async throws {
    try await withServer { _, connection in
      try connection.sendRaw(
        "HTTP/1.1 103 Early Hints\r\nETag: \"hint\"\r\n\r\n"
          + "HTTP/1.1 200 OK\r\nETag: \"final\"\r\nContent-Length: 2\r\n\r\nok")
    } test: { server, transport in
      let response = try await transport.send(HTTPRequest(url: server.url))
      #expect(response.status == 200)
      #expect(response.headers.map(\.value) == ["\"final\"", "2"])
    }
  }

  /// Case 35: a header over two lines.
  @Test func foldedHeadersAndTrailersAreTakenApart() async throws {
    try await withServer { _, connection in
      try connection.sendRaw(
        "HTTP/1.1 200 OK\r\nETag: \"a\r\n b\"\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "2\r\nok\r\n0\r\nETag: \"trailer\"\r\n\r\n")
    } test: { server, transport in
      let response = try await transport.send(HTTPRequest(url: server.url))
      #expect(response.header("ETag") == "\"a b\"")
      #expect(response.headers.count == 2)
      #expect(response.body.text == "ok")
    }
  }

  /// Case 33: libcurl takes the last of two lengths. That is harmless without a shared cache.
  @Test func theLastOfTwoLengthsCounts() async throws {
    try await withServer { _, connection in
      try connection.sendRaw(
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 5\r\n\r\nokxyz")
      connection.close()
    } test: { server, transport in
      let response = try await transport.send(HTTPRequest(url: server.url))
      #expect(response.body.text == "okxyz")
    }
  }

  /// Case 32: headers without end.
  @Test func endlessHeadersAreAnError() async throws {
    try await withServer { _, connection in
      try connection.sendRaw("HTTP/1.1 200 OK\r\n")
      let line = "X: " + String(repeating: "v", count: 1000) + "\r\n"
      for _ in 0..<20_000 { try connection.sendRaw(line) }
    } test: { server, transport in
      await expectFailure(.headerTooLarge, of: transport, HTTPRequest(url: server.url))
    }
  }

  /// libcurl calls this a lack of memory.
  @Test func anEndlessLineOfAHeaderIsAnError() async throws {
    try await withServer { _, connection in
      try connection.sendRaw("HTTP/1.1 200 OK\r\nX: ")
      let part = String(repeating: "v", count: 1000)
      for _ in 0..<20_000 { try connection.sendRaw(part) }
    } test: { server, transport in
      let error = await expectFailure(
        .headerTooLarge, of: transport, HTTPRequest(url: server.url))
      #expect(error?.description.contains("memory") == false)
    }
  }

  /// Case 37: HTTP/0.9.
  @Test func anAnswerWithoutStatusLineIsAnError() async throws {
    try await withServer { _, connection in
      try connection.sendRaw("<rss/>")
      connection.close()
    } test: { server, transport in
      await expectFailure(.protocolViolation, of: transport, HTTPRequest(url: server.url))
    }
  }

  /// Case 47: a line break in a header would add another header.
  @Test func aHeaderWithALineBreakIsNeverSent() async throws {
    try await withServer { _, connection in
      try connection.send(Response())
    } test: { server, transport in
      await expectFailure(
        .invalidHeader, of: transport,
        HTTPRequest(url: server.url, headers: [("If-None-Match", "\"1\"\r\nX-Evil: 1")]))
      #expect(server.requests.isEmpty)
    }
  }

  @Test func aUserAgentWithALineBreakIsRefused() {
    var configuration = CurlTransport.Configuration()
    configuration.userAgent = "mooring\r\nX-Evil: 1"
    expect(.invalidHeader) { _ = try CurlTransport(configuration: configuration) }
  }

  /// Cases 20, 22: a time to wait, as a date and in seconds.
  @Test func retryAfterIsReadFromTheAnswer() async throws {
    try await withServer { request, connection in
      let headers =
        request.path == "/date"
        ? [
          ("Date", "Sun, 06 Nov 1994 08:49:37 GMT"),
          ("Retry-After", "Sun, 06 Nov 1994 08:51:37 GMT"),
        ] : [("Retry-After", "77")]
      try connection.send(Response(status: 429, headers: headers, text: "slow"))
    } test: { server, transport in
      #expect(try await transport.send(HTTPRequest(url: server.url + "/date")).retryAfter == 120)
      let response = try await transport.send(HTTPRequest(url: server.url))
      #expect(response.retryAfter == 77)
      #expect(response.body.text == "slow")
    }
  }

  @Test func credentialsOfTheURLAreSentAndNeverShown() async throws {
    try await withServer { _, connection in
      try connection.send(Response(text: "ok"))
    } test: { server, transport in
      let host = server.url.dropFirst("http://".count)
      let response = try await transport.send(HTTPRequest(url: "http://user:pa%20ss@\(host)/x"))
      let sent = server.requests.first?.header("Authorization")
      #expect(sent == "Basic " + Data("user:pa ss".utf8).base64EncodedString())
      #expect(response.effectiveURL == "http://\(host)/x")
      server.stop()
      let error = await expectFailure(
        .unreachable, of: transport, HTTPRequest(url: "http://user:secret@\(host)/x?q=1"))
      #expect(error?.description.contains("secret") == false)
      #expect(error?.description.contains("/x?q=1") == true)
    }
  }
}
