import SystemSupport
import TestSupport
import Testing

@testable import WebServer

@Suite struct HeaderAbuseTests {
  private static let form = "Content-Type: application/x-www-form-urlencoded\r\n"
  /// A request that must not be executed as one of its own.
  private static let smuggled = "GET /smuggled HTTP/1.1\r\nHost: h\r\n\r\n"

  private static func get(
    _ headers: String, _ target: String = "/", _ body: String = ""
  ) -> String {
    "GET \(target) HTTP/1.1\r\nHost: h\r\n\(headers)\r\n\(body)"
  }

  private static func post(_ headers: String, _ body: String) -> String {
    "POST / HTTP/1.1\r\nHost: h\r\n\(form)\(headers)\r\n\(body)"
  }

  struct Case: Sendable {
    let status: Int
    let request: String

    init(_ status: Int, _ request: String) {
      self.status = status
      self.request = request
    }
  }

  /// Two parties may find different ends of such a body.
  private static let bodies: [Case] = [
    Case(400, post("Content-Length: 3\r\nContent-Length: 4\r\n", "abc\(smuggled)")),
    Case(400, post("Content-Length: 3\r\nContent-Length: 3\r\n", "abc\(smuggled)")),
    Case(
      411, post("Content-Length: 4\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n\(smuggled)")),
    Case(411, post("Transfer-Encoding: chunked\r\n", "0\r\n\r\n\(smuggled)")),
    Case(411, post("Transfer-Encoding: xchunked\r\n", "0\r\n\r\n\(smuggled)")),
    Case(400, post("Transfer-Encoding : chunked\r\n", "0\r\n\r\n\(smuggled)")),
    Case(400, post("Content-Length: 3\r\nX: a\rContent-Length: 9\r\n", "abc\(smuggled)")),
    Case(400, post("Content-Length: +3\r\n", "abc")),
    Case(400, post("Content-Length: -1\r\n", "")),
    Case(400, post("Content-Length: 3, 3\r\n", "abc")),
    Case(400, post("Content-Length: 0x3\r\n", "abc")),
    Case(413, post("Content-Length: 65537\r\n", smuggled)),
    Case(413, post("Content-Length: 99999999999999999999\r\n", "")),
    Case(400, get("Content-Length: 35\r\n", "/", smuggled)),
    Case(
      415,
      "POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\n{}"),
  ]

  private static let heads: [Case] = [
    Case(400, "GET / HTTP/1.1\r\n\r\n"), Case(400, "GET / HTTP/1.0\r\n\r\n"),
    Case(400, get("Host: h\r\n")), Case(400, "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n"),
    Case(400, "GET / HTTP/1.1\r\n X: y\r\nHost: h\r\n\r\n"), Case(400, get("X : y\r\n")),
    Case(400, get("X\0Y: z\r\n")), Case(400, get("nonsense\r\n")),
    Case(400, get("X: \u{1}\r\n")), Case(400, "GET /\r\n\r\n"),
    Case(505, "GET / HTTP/2.0\r\nHost: h\r\n\r\n"),
    Case(400, "GET / HTXP/1.1\r\nHost: h\r\n\r\n"), Case(400, get("", "/a b")),
    Case(400, get("", "http://h/")), Case(400, get("", "//h")),
  ]

  /// The server's own limit, then that of libmicrohttpd.
  private static let sizes: [Case] = [
    Case(431, get("X: \(letters(17_000))\r\n")), Case(431, get("X: \(letters(40_000))\r\n")),
    Case(431, get(String(repeating: "X: y\r\n", count: 3_000))),
    Case(431, get("", "/\(letters(17_000))")), Case(414, get("", "/\(letters(40_000))")),
  ]

  private static func letters(_ count: Int) -> String { String(repeating: "x", count: count) }

  @Test(arguments: bodies + heads + sizes)
  func aRequestThatCanBeReadInTwoWaysOrIsTooLargeIsRefused(_ refused: Case) throws {
    let paths = Locked<[String]>([])
    try TestServer.run { request in
      paths.withLock { $0.append(request.path) }
      return WebResponse(status: 200, line: request.path)
    } body: { server in
      let client = try RawClient(server.address)
      try client.send(refused.request)
      #expect(try client.response().status == refused.status)
      #expect(paths.withLock { $0 } == [])
      // The connection ends with the refusal, so that no later bytes are a request.
      #expect(try !client.readToEnd().contains("smuggled"))
      #expect(paths.withLock { $0 } == [])
    }
  }

  /// libmicrohttpd keeps a value up to the zero byte, and folded lines not at all.
  @Test func aZeroByteEndsAValueAndAFoldedLineIsNoPartOfOne() throws {
    try TestServer.run({ WebResponse(status: 200, line: "\($0.headers.map(\.value))") }) { server in
      let client = try RawClient(server.address)
      try client.send(Self.get("X: y\0z\r\n"))
      #expect(try client.response().body == "[\"h\", \"y\"]\n")
      try client.send(Self.get("X: y\r\n z\r\n"))
      #expect(try client.response().body == "[\"h\", \"y\"]\n")
    }
  }

  @Test func randomBytesDoNotStopTheServer() throws {
    try TestServer.run { server in
      for seed in 1...200 as ClosedRange<UInt64> {
        var random = SeededRandom(seed: seed)
        let client = try RawClient(server.address)
        try client.send(random.bytes(count: 200))
      }
      let client = try RawClient(server.address)
      try client.get("/page")
      #expect(try client.response().body == "/page\n")
    }
  }
}
