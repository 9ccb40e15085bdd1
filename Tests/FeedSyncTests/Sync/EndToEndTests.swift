import EntityStore
import Foundation
import HTTPClient
import HomeFeed
import LoopbackHTTP
import TestSupport
import Testing

@testable import FeedSync

/// The engine over libcurl, against a server of the test's own.
@Suite(.serialized) struct EndToEndTests {
  @Test func pagesAndValidatorsAreTransferredAndA304WritesNothing() async throws {
    let etag = "W/\"a,b\""
    try await withServedFeed { request, connection in
      if request.header("If-None-Match") == etag {
        return try connection.send(Response(status: 304, headers: [("ETag", etag)]))
      }
      let page =
        request.queryValue("page") == nil
        ? HomeFeedText([.init("a", 1)], next: "?page=1") : HomeFeedText([.init("b", 1)])
      try connection.send(Response(headers: [("ETag", etag)], text: page.text))
    } _: { fixture, server, sync async throws in
      let first = try await sync()
      #expect(first.new == 2 && first.requests == 2 && first.bytes > 0)
      let before = try fixture.store.dataBytes()
      #expect(try await sync().outcome == .notModified)
      #expect(try fixture.store.dataBytes() == before)
      #expect(server.requests.map(\.target) == ["/feed", "/feed?page=1", "/feed"])
      #expect(server.requests.map { $0.header("If-None-Match") } == [nil, nil, etag])
      #expect(server.requests.allSatisfy { $0.header("Accept")?.contains("homefeed") == true })
    }
  }

  @Test func anAnswerThatIsCutOffOrTooLargeIsAnErrorOfOneLine() async throws {
    try await withServedFeed { _, connection in
      try connection.sendHead(headers: [("Content-Length", "1000")])
      try connection.sendRaw("{\"format\":\"homefeed/1\",")
      connection.close()
    } _: { _, _, sync async throws in
      let error = try await #require(throws: HTTPError.self) { try await sync() }
      #expect(error.code == .truncated)
      #expect(!error.description.contains("\n"))
    }
    try await withServedFeed { _, connection in
      try connection.sendHead()
      let spaces = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)
      for _ in 0..<40 { try connection.sendChunk(spaces) }
      try connection.endChunks()
    } _: { _, _, sync async throws in
      let error = try await #require(throws: HTTPError.self) { try await sync() }
      #expect(error.code == .tooLarge)
    }
  }

  @Test func aBusyServersRetryAfterIsReported() async throws {
    try await withServedFeed { _, connection in
      try connection.send(Response(status: 503, headers: [("Retry-After", "90")]))
    } _: { _, server, sync async throws in
      for _ in 0..<2 {
        let error = try await #require(throws: SyncError.self) { try await sync() }
        #expect(error.code == .waiting)
      }
      #expect(server.requests.count == 1)
    }
  }

  @Test func noETagCanSmuggleAHeaderIntoARequest() async throws {
    try await withServedFeed { _, connection in
      let text = HomeFeedText.full(.init("a", 1), checkpoint: "c\r\nX-Evil: 1")
      try connection.sendRaw(
        "HTTP/1.1 200 OK\r\nETag: \"a\rX-Evil: 1\"\r\nContent-Length: \(text.utf8.count)\r\n\r\n"
          + text)
    } _: { _, server, sync async throws in
      for _ in 0..<2 { _ = try await sync() }
      #expect(server.requests.count == 2)
      #expect(server.requests.allSatisfy { $0.header("X-Evil") == nil })
      #expect(server.requests[1].target == "/feed?since=c%0D%0AX-Evil%3A%201")
    }
  }
}
