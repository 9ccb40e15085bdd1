import Dispatch
import EntityStore
import Foundation
import HTTPClient
import HomeFeed
import LoopbackHTTP
import SystemSupport
import TestSupport
import Testing

@testable import FeedSync

/// Complete runs over libcurl, checked by the log of the server.
@Suite(.serialized) struct PoliteSyncTests {
  private static func document(_ revision: Int64) -> String {
    HomeFeedText.full(.init("a", revision))
  }

  /// The state of the scripted server: its validators and the freshness that it has promised.
  private struct Script {
    private var validators: (etag: String, date: String)?
    /// The validators that were the last ones at each request.
    private(set) var asked: [(etag: String, date: String)?] = []
    private var promised = 0.0
    /// Seconds from the last answer.
    var openAfter = 0.0

    mutating func begin() -> Int {
      asked.append(validators)
      openAfter = 0
      return asked.count
    }

    mutating func document(_ validators: (String, String), goodFor seconds: Double) {
      self.validators = validators
      (promised, openAfter) = (seconds, seconds)
    }

    mutating func notModified(_ validators: (String, String), goodFor seconds: Double) {
      self.validators = validators
      openAfter = min(promised, seconds)
    }
  }

  /// A hundred polls of a server with every kind of response: the first request has no validators,
  /// each other has those of the previous response, byte for byte, and none is sent while the feed
  /// is fresh.
  @Test func overManyPollsTheLogShowsNoImpoliteRequest() async throws {
    let script = Locked(Script())
    try await withServedFeed { request, connection in
      let number = script.withLock { $0.begin() }
      let etag = "W/\"é,\(number)\""
      let maxAge = Double(60 + number % 5 * 30)
      let validators = (etag, "not a date, \(number)")
      let headers = [
        ("ETag", validators.0), ("Last-Modified", validators.1),
        ("Cache-Control", "max-age=\(Int(maxAge))"),
      ]
      switch number % 4 {
      case 1:
        if request.header("If-None-Match") != nil {
          script.withLock { $0.notModified(validators, goodFor: maxAge) }
        }
        try connection.send(Response(status: 304, headers: headers))
      case 3 where number % 8 == 3:
        script.withLock { $0.openAfter = 500 }
        try connection.send(
          Response(status: number % 16 == 3 ? 429 : 503, headers: [("Retry-After", "500")]))
      default:
        script.withLock { $0.document(validators, goodFor: maxAge) }
        let revision = number % 4 == 2 ? 1 : Int64(number)
        try connection.send(Response(headers: headers, text: Self.document(revision)))
      }
    } _: { fixture, server, sync async throws in
      var random = SeededRandom(seed: testSeed(1))
      var openFrom = fixture.clock.now
      for _ in 0..<300 {
        let before = server.requests.count
        let now = fixture.clock.now
        do {
          _ = try await sync(.init())
        } catch let error as SyncError where error.code == .waiting {}
        let sent = server.requests.count - before
        if sent > 0 {
          #expect(now >= openFrom, "a request within a promise, MOORING_SEED=\(random.seed)")
        }
        if sent > 0 { openFrom = now.addingTimeInterval(script.withLock { $0.openAfter }) }
        fixture.clock.advance(by: Double(Int.random(in: 1...120, using: &random)))
      }
      let requests = server.requests
      #expect(requests.count > 40 && requests.count < 300)
      // The very first answer is a 304 that nobody asked for: it is asked once more, in earnest.
      #expect(requests.prefix(2).allSatisfy { $0.header("If-None-Match") == nil })
      #expect(requests[1].header("Cache-Control") == "no-cache")
      let expected = script.withLock { $0.asked }
      #expect(expected.count == requests.count)
      for (request, validators) in zip(requests, expected).dropFirst(2) {
        #expect(request.header("If-None-Match") == validators?.etag)
        #expect(request.header("If-Modified-Since") == validators?.date)
        #expect(validators != nil, "an unconditional request after the first")
      }
    }
  }

  @Test(arguments: [[], [0x22, 0xE9, 0x22]] as [[UInt8]])
  func aValidatorThatCannotBeSentBackAsItCameIsNotKept(_ etag: [UInt8]) async throws {
    try await withServedFeed { _, connection in
      let text = Self.document(1)
      try connection.sendRaw("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\nETag: ")
      try connection.sendRaw(etag)
      try connection.sendRaw("\r\n\r\n" + text)
    } _: { fixture, server, sync async throws in
      _ = try await sync(.init())
      #expect(try Feeds(fixture.store).find(server.url + "/feed").feed.etag == nil)
      _ = try await sync(.init())
      #expect(server.requests.map { $0.header("If-None-Match") } == [nil, nil])
    }
  }

  /// Case 19: a server that answers every request with 304, even without validators.
  @Test func aServerThatAlwaysAnswersNotModifiedGetsTwoRequestsAndNoMore() async throws {
    try await withServedFeed { _, connection in
      try connection.send(Response(status: 304, headers: [("ETag", "\"v1\"")]))
    } _: { fixture, server, sync async throws in
      let error = try await #require(throws: SyncError.self) { try await sync(.init()) }
      #expect(error.code == .unaskedNotModified)
      #expect(server.requests.map { $0.header("Cache-Control") } == [nil, "no-cache"])
      #expect(server.requests.allSatisfy { $0.header("If-None-Match") == nil })
      let url = server.url + "/feed"
      #expect(try Feeds(fixture.store).find(url).feed.etag == nil, "its validators are nobody's")
    }
  }

  /// Cases 7, 15, 49: a body that looks complete to HTTP and is not stores no validators.
  @Test(arguments: ["gzip", "close"])
  func aDocumentThatEndsEarlyLeavesNoValidators(_ kind: String) async throws {
    let text = HomeFeedText((0..<2_000).map { .init("ep:\($0)", Int64($0)) }).text
    let packed = try gzip(text)
    try await withServedFeed { _, connection in
      if kind == "gzip" {
        return try connection.send(
          Response(
            headers: [("Content-Encoding", "gzip"), ("ETag", "\"cut\"")],
            body: Array(packed[..<(packed.count / 2)])))
      }
      try connection.sendRaw("HTTP/1.1 200 OK\r\nETag: \"cut\"\r\nConnection: close\r\n\r\n")
      try connection.sendRaw(String(text.prefix(text.count / 2)))
      connection.close()
    } _: { fixture, server, sync async throws in
      let error = try await #require(throws: SyncError.self) { try await sync(.init()) }
      #expect(error.code == .badDocument)
      let feed = try Feeds(fixture.store).find(server.url + "/feed").feed
      #expect(feed.etag == nil && feed.freshFor == nil && feed.errors == 1)
    }
  }

  /// Case 23: a redirect's ETag is not the document's.
  @Test func afterARedirectTheSecondRequestIsConditionalToo() async throws {
    try await withServedFeed { request, connection in
      if request.path == "/feed" {
        return try connection.send(
          Response(status: 301, headers: [("Location", "/moved"), ("ETag", "\"redirect\"")]))
      }
      guard request.header("If-None-Match") != "\"v1\"" else {
        return try connection.send(Response(status: 304))
      }
      try connection.send(Response(headers: [("ETag", "\"v1\"")], text: Self.document(1)))
    } _: { _, server, sync async throws in
      _ = try await sync(.init())
      #expect(try await sync(.init()).outcome == .notModified)
      #expect(server.requests.map(\.target) == ["/feed", "/moved", "/feed", "/moved"])
      #expect(
        server.requests.map { $0.header("If-None-Match") } == [nil, nil, nil, "\"v1\""])
    }
  }

  /// The first request stays until there is a second one.
  @Test func atMostTwoRunsAreAtOneHostAtATime() async throws {
    let counts = Locked((now: 0, most: 0, all: 0))
    let second = DispatchSemaphore(value: 0)
    try await withServedFeed { _, connection in
      let number = counts.withLock {
        $0.now += 1
        $0.all += 1
        $0.most = max($0.most, $0.now)
        return $0.all
      }
      if number == 1 { _ = second.wait(timeout: .now() + 60) }
      if number == 2 { second.signal() }
      defer { counts.withLock { $0.now -= 1 } }
      try connection.send(Response(text: Self.document(1)))
    } _: { fixture, server, _ async throws in
      let transport = try CurlTransport()
      defer { transport.shutdown() }
      let engine = SyncEngine(
        store: fixture.store, transport: transport,
        now: { [clock = fixture.clock] in clock.now })
      try await withThrowingTaskGroup(of: Void.self) { group in
        for number in 0..<20 {
          let url = "\(server.url)/feed/\(number)"
          try await Feeds(fixture.store).add(url)
          let id = try Feeds(fixture.store).find(url).id
          group.addTask { _ = try await engine.sync(id) }
        }
        try await group.waitForAll()
      }
      #expect(server.requests.count == 20)
      #expect(counts.withLock { $0.most } == 2)
    }
  }
}
