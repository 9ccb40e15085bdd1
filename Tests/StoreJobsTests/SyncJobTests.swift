import Dispatch
import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import HTTPClient
import LoopbackHTTP
import Synchronization
import TestSupport
import Testing

@testable import StoreJobs

@Suite(.serialized, .timeLimit(.minutes(10)))
struct SyncJobTests {
  /// Runs `body` with a feed that the handler serves, and its number.
  private func withFeed(
    _ handler: @escaping LoopbackServer.Handler,
    _ body: (TemporaryStore, CurlTransport, Int64) async throws -> Void
  ) async throws {
    let server = try LoopbackServer(handler: handler)
    defer { server.stop() }
    let transport = try CurlTransport()
    defer { transport.shutdown() }
    try await withStoreJobs { temporary async throws in
      try await Feeds(temporary.store).add(server.url + "/feed")
      let feed = try Feeds(temporary.store).find(server.url + "/feed").id
      try await body(temporary, transport, feed)
    }
  }

  private static func page(_ id: String, next: String? = nil) -> String {
    let link = next.map { #","page":{"next":"\#($0)"}"# } ?? ""
    return #"{"format":"homefeed/1","mode":"full","epoch":"e1","version":1,"entities":["#
      + #"{"id":"\#(id)","kind":"Episode","rev":1,"updatedAt":"2026-11-01T08:00:00Z","#
      + #""attrs":{"title":"\#(id)"}}]\#(link)}"#
  }

  private func episodes(_ temporary: TemporaryStore) throws -> Int {
    try temporary.store.read { try $0.count(of: "Episode") }
  }

  @Test func aFeedIsSyncedAndTheReportIsKept() async throws {
    try await withFeed { _, connection in
      try connection.send(Response(text: Self.page("a")))
    } _: { temporary, transport, feed async throws in
      try await temporary.running(transport: transport) { _ in
        let handle = try await temporary.queue.enqueue(SyncFeed(feed: feed))
        #expect(try await handle.value.new == 1)
        let again = SyncFeed(feed: feed, isFull: true)
        #expect(try await temporary.queue.enqueue(again).value.unchanged == 1)
      }
      #expect(try episodes(temporary) == 1)
    }
  }

  @Test func aStoppedSyncResumesWithTheNextRunner() async throws {
    let gate = DispatchSemaphore(value: 0)
    try await withFeed { request, connection in
      if request.queryValue("page") == nil {
        return try connection.send(Response(text: Self.page("a", next: "?page=1")))
      }
      gate.wait()
      try connection.send(Response(text: Self.page("b")))
    } _: { temporary, transport, feed async throws in
      let handle = try await temporary.queue.enqueue(SyncFeed(feed: feed))
      try await temporary.interrupt(transport: transport) {
        try temporary.queue.status(handle.id)?.state == .running
      }
      #expect(try temporary.queue.status(handle.id)?.state == .ready)
      gate.signal()
      gate.signal()
      let report = try await temporary.running(transport: transport) { _ in try await handle.value }
      #expect(report.new == 2)
      #expect(try episodes(temporary) == 2)
    }
  }

  @Test func aCancelledSyncEndsDuringARequest() async throws {
    let gate = DispatchSemaphore(value: 0)
    try await withFeed { _, connection in
      gate.wait()
      try connection.send(Response(text: Self.page("a")))
    } _: { temporary, transport, feed async throws in
      try await temporary.running(transport: transport) { _ in
        let handle = try await temporary.queue.enqueue(SyncFeed(feed: feed))
        for try await status in handle.updates where status.state == .running { break }
        try await handle.cancel()
        let error = try await #require(throws: JobError.self) { try await handle.value }
        #expect(error.code == .cancelled)
      }
      gate.signal()
      #expect(try episodes(temporary) == 0)
    }
  }

  @Test func aSyncIsRetriedAfterRetryAfter() async throws {
    let requests = Atomic<Int>(0)
    try await withFeed { _, connection in
      requests.add(1, ordering: .relaxed)
      try connection.send(Response(status: 503, headers: [("Retry-After", "90")]))
    } _: { temporary, transport, feed async throws in
      let handle = try await temporary.queue.enqueue(SyncFeed(feed: feed))
      try await temporary.running(transport: transport) { runner in
        for try await status in handle.updates where status.state == .scheduled {
          #expect(status.attempts == 1 && status.error?.contains("wait") == true)
          break
        }
        temporary.clock.advance(by: 89)
        // When this one has run, the other has not become due with it.
        _ = try await temporary.queue.enqueue(CheckStore()).value
        #expect(try temporary.queue.status(handle.id)?.attempts == 1)
        temporary.clock.advance(by: 1)
        runner.wake()
        for try await status in handle.updates where status.attempts == 2 {
          if status.state == .scheduled { break }
        }
      }
      #expect(requests.load(ordering: .relaxed) == 2)
    }
  }

  @Test func aFeedThatIsPausedOrUnknownIsNotTriedAgain() async throws {
    try await withFeed { _, connection in
      try connection.send(Response(status: 500))
    } _: { temporary, transport, feed async throws in
      try await Feeds(temporary.store).update(feed) { $0.isPaused = true }
      try await temporary.running(transport: transport) { _ in
        for id in [feed, 77] {
          let handle = try await temporary.queue.enqueue(SyncFeed(feed: id))
          await #expect(throws: JobError.self) { try await handle.value }
          #expect(try temporary.queue.status(handle.id)?.attempts == 1)
        }
      }
    }
  }

  /// A job of a URL that is not a feed yet: its server's wait is known, too.
  @Test func aCandidateBecomesAFeedWhenItsJobHasReadAPage() async throws {
    let requests = Atomic<Int>(0)
    try await withFeed { _, connection in
      let isFirst = requests.add(1, ordering: .relaxed).oldValue == 0
      try connection.send(
        isFirst
          ? Response(status: 503, headers: [("Retry-After", "90")])
          : Response(text: Self.page("a")))
    } _: { temporary, transport, feed async throws in
      let url = try Feeds(temporary.store).list()[0].feed.url
      try await Feeds(temporary.store).update(feed) { $0.isRemoved = true }
      let candidate = try await Feeds(temporary.store).candidate(url).feed
      let sync = SyncFeed(feed: feed, candidateAddedAt: candidate.addedAt)
      let handle = try await temporary.queue.enqueue(sync)
      try await temporary.running(transport: transport) { runner in
        for try await status in handle.updates where status.state == .scheduled { break }
        #expect(try Feeds(temporary.store).list().isEmpty)
        temporary.clock.advance(by: 90)
        runner.wake()
        #expect(try await handle.value.new == 1)
      }
      #expect(try Feeds(temporary.store).list().map(\.id) == [feed])
    }
  }

  /// The schedule decides when the feed is requested again, and counts the failed runs.
  @Test(arguments: [500, 404, 503, 0])
  func scheduledSyncsAreTriedOnce(_ status: Int) async throws {
    let requests = Atomic<Int>(0)
    try await withFeed { _, connection in
      requests.add(1, ordering: .relaxed)
      if status == 0 { return connection.close() }
      try connection.send(Response(status: status))
    } _: { temporary, transport, feed async throws in
      try await temporary.running(transport: transport) { _ in
        let sync = SyncFeed(feed: feed, isScheduled: true)
        let handle = try await temporary.queue.enqueue(sync)
        await #expect(throws: JobError.self) { try await handle.value }
        #expect(try temporary.queue.status(handle.id)?.attempts == 1)
      }
      #expect(try Feeds(temporary.store).list().map(\.feed.errors) == [1])
    }
  }

  @Test func withoutANetworkTheRunnerClaimsNoSync() async throws {
    try await withStoreJobs { temporary in
      let handle = try await temporary.queue.enqueue(SyncFeed(feed: 1))
      #expect(try await temporary.queue.enqueue(SyncFeed(feed: 1, isFull: true)).id == handle.id)
      _ = try await temporary.value(of: CheckStore())
      #expect(try temporary.queue.status(handle.id)?.state == .ready)
    }
  }

  @Test func hostsLimitHowManySyncsRunAtOnce() throws {
    #expect(SyncFeed(feed: 1).limit == nil)
    let limit = SyncFeed(feed: 1, host: "example.org").limit
    #expect(limit == JobLimit("feed.sync example.org", max: SyncFeed.perHostMax))
    let short = Data(#"{"feed":3}"#.utf8)
    #expect(try JSONDecoder().decode(SyncFeed.self, from: short) == SyncFeed(feed: 3))
  }
}
