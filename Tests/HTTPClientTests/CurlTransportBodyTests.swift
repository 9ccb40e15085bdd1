import Foundation
import LoopbackHTTP
import TestSupport
import Testing

@testable import HTTPClient

/// Bodies that are accepted, and bodies that are rejected.
@Suite struct CurlTransportBodyTests {
  /// Cases 17, 44, 46: the request names the client and its encodings, and no date is invented.
  @Test func anAnswerIsReturnedWithItsHeaders() async throws {
    try await withServer { _, connection in
      try connection.send(
        Response(headers: [("ETag", "W/\"a,b\""), ("X", " y ")], text: "{\"a\":1}"))
    } test: { server, transport in
      let request = HTTPRequest(
        url: server.url + "/feed?page=1#x", headers: [("Accept", "application/json"), ("X-E", "")])
      let response = try await transport.send(request)
      #expect(response.status == 200)
      #expect(response.body.text == "{\"a\":1}")
      #expect(response.header("etag") == "W/\"a,b\"")
      #expect(response.header("x") == "y")
      #expect(response.effectiveURL == server.url + "/feed?page=1")
      #expect(response.requests == 1)
      #expect(response.wireBytes > 7)
      let sent = try #require(server.requests.first)
      #expect(sent.method == "GET")
      #expect(sent.target == "/feed?page=1")
      #expect(sent.header("User-Agent") == "mooring/0.1")
      #expect(sent.header("Accept") == "application/json")
      #expect(sent.header("X-E") == "")
      #expect(sent.header("Accept-Encoding")?.contains("gzip") == true)
      #expect(sent.header("If-Modified-Since") == nil)
    }
  }

  /// Case 21: a status is an answer, with its headers and body.
  @Test(arguments: [200, 204, 304, 404, 410, 429, 500, 300])
  func everyStatusIsAnAnswer(status: Int) async throws {
    try await withServer { _, connection in
      try connection.send(Response(status: status, headers: [("ETag", "\"1\"")], text: "x"))
    } test: { server, transport in
      let response = try await transport.send(HTTPRequest(url: server.url))
      #expect(response.status == status)
      #expect(response.header("ETag") == "\"1\"")
    }
  }

  @Test func aCompressedBodyIsDecoded() async throws {
    let text = String(repeating: "hello ", count: 10_000)
    let packed = try gzip(text)
    try await withServer { _, connection in
      try connection.send(Response(headers: [("Content-Encoding", "gzip")], body: packed))
    } test: { server, transport in
      let response = try await transport.send(HTTPRequest(url: server.url))
      #expect(response.body.text == text)
      #expect(response.wireBytes < text.utf8.count / 10)
    }
  }

  /// Case 1: a body without a length, over the cap.
  @Test func aBodyAtTheCapArrivesAndOneByteMoreDoesNot() async throws {
    try await withServer { request, connection in
      let count = Int(request.queryValue("n") ?? "") ?? 0
      try connection.sendHead()
      for start in stride(from: 0, to: count, by: 5000) {
        try connection.sendChunk([UInt8](repeating: 65, count: min(5000, count - start)))
      }
      try connection.endChunks()
    } test: { server, transport in
      let response = try await transport.send(
        HTTPRequest(url: server.url + "/?n=100000", decodedBytesMax: 100_000))
      #expect(response.body.count == 100_000)
      await expectFailure(
        .tooLarge, of: transport,
        HTTPRequest(url: server.url + "/?n=100001", decodedBytesMax: 100_000))
      #expect(server.requests.count == 2)
    }
  }

  /// Case 2: a length over the cap.
  @Test func anAnnouncedLengthOverTheCapIsRefusedAtOnce() async throws {
    try await withServer { _, connection in
      try connection.sendHead(headers: [("Content-Length", "1001")])
      try connection.waitForClose()
    } test: { server, transport in
      await expectFailure(
        .tooLarge, of: transport, HTTPRequest(url: server.url, decodedBytesMax: 1000))
    }
  }

  /// Cases 3, 4: a compressed body over the cap.
  @Test func aCompressionBombIsCutOffAtTheCap() async throws {
    let unpackedBytes = 128 << 20
    let bomb = try gzip { try $0.truncate(atOffset: UInt64(unpackedBytes)) }
    try await withServer { _, connection in
      try connection.send(Response(headers: [("Content-Encoding", "gzip")], body: bomb))
    } test: { server, transport in
      await expectFailure(
        .tooLarge, of: transport, HTTPRequest(url: server.url, decodedBytesMax: 1 << 20))
      #expect(server.requests.count == 1)
    }
  }

  /// Case 7: libcurl reports success. The parser finds that the end of the document is missing.
  @Test func aTruncatedStreamOfTheRightLengthLooksComplete() async throws {
    let text = (0..<20_000).map { String($0 &* 2_654_435_761, radix: 36) }.joined()
    let packed = try gzip(text)
    try await withServer { _, connection in
      try connection.send(
        Response(
          headers: [("Content-Encoding", "gzip")], body: Array(packed[..<(packed.count / 2)])))
    } test: { server, transport in
      let body = try await transport.send(HTTPRequest(url: server.url)).body.text
      #expect(!body.isEmpty)
      #expect(body.utf8.count < text.utf8.count)
      #expect(text.hasPrefix(body))
    }
  }

  /// Cases 8 to 11, 48: a bad checksum, bytes after the end, no encoding, an unknown one.
  @Test(arguments: ["checksum", "junk", "member", "plain", "unknown"])
  func aBodyThatCannotBeDecodedIsAskedForOnceMoreAsPlain(fault: String) async throws {
    let packed = try gzip("hello")
    try await withServer { request, connection in
      if request.header("Accept-Encoding") == "identity" {
        try connection.send(Response(text: "hello"))
      } else {
        try connection.send(faulty(packed, fault))
      }
    } test: { server, transport in
      let response = try await transport.send(HTTPRequest(url: server.url))
      #expect(response.body.text == "hello")
      #expect(response.requests == 2)
      #expect(server.requests.count == 2)
    }
  }

  /// Cases 8 to 11, when the server cannot do otherwise.
  @Test(arguments: ["checksum", "junk", "plain", "unknown"])
  func aBodyThatStaysUndecodableIsAnError(fault: String) async throws {
    let packed = try gzip("hello")
    try await withServer { _, connection in
      try connection.send(faulty(packed, fault))
    } test: { server, transport in
      await expectFailure(.badEncoding, of: transport, HTTPRequest(url: server.url))
      #expect(server.requests.count == 2)
    }
  }

  /// Cases 12 to 14: a body shorter than its length, a chunk cut, chunks without an end.
  @Test(arguments: [
    "Content-Length: 1000\r\n\r\nxxx", "Transfer-Encoding: chunked\r\n\r\n3e8\r\nxxx",
    "Transfer-Encoding: chunked\r\n\r\n3\r\nxxx\r\n",
  ])
  func aCutBodyIsAnError(rest: String) async throws {
    try await withServer { _, connection in
      try connection.sendRaw("HTTP/1.1 200 OK\r\n" + rest)
      connection.close()
    } test: { server, transport in
      await expectFailure(.truncated, of: transport, HTTPRequest(url: server.url))
    }
  }

  @Test func aServerThatClosesWithoutAnAnswerIsAnError() async throws {
    try await withServer { _, connection in
      connection.close()
    } test: { server, transport in
      await expectFailure(.truncated, of: transport, HTTPRequest(url: server.url))
    }
  }
}

private func faulty(_ packed: [UInt8], _ fault: String) -> Response {
  var body = packed
  switch fault {
  case "checksum": body[body.count - 8] ^= 0xFF
  case "junk": body += Array("JUNKJUNK".utf8)
  case "member": body += packed
  default: body = Array("hello".utf8)
  }
  return Response(
    headers: [("Content-Encoding", fault == "unknown" ? "sdch" : "gzip")], body: body)
}
