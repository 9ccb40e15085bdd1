import Foundation
import HTTPClient
import HomeFeed
import LoopbackHTTP
import Synchronization
import TestSupport
import Testing

@testable import FeedSync

/// A feed that has had a public address does not lead into the private network later.
@Suite(.serialized) struct PrivateAddressTests {
  private static let refused = ScriptedTransport.Answer.failure(
    HTTPError(.refusedAddress, SyncFixture.url))

  private func publicAnswer(_ text: String, status: Int = 200) -> ScriptedTransport.Answer {
    .response(
      status: status, headers: [("ETag", "\"1\"")], body: Array(text.utf8), isHostPublic: true)
  }

  private var page: String { HomeFeedText.full(.init("a", 1)) }

  @Test func aFeedWithAPublicAddressIsNotFetchedFromAPrivateOneLater() async throws {
    try await withSync { sync async throws in
      sync.serve(publicAnswer(page))
      try await sync.sync()
      #expect(try sync.feed.hasPublicAddress)
      try await sync.sync()
      #expect(sync.transport.takeRequests().map(\.allowsPrivateAddresses) == [true, false])

      sync.serve(Self.refused)
      let error = try await sync.syncError()
      #expect(error.code == .privateAddress)
      #expect(error.description.contains("mooring feed add URL --allow-private"))
      #expect(error.description.contains(SyncFixture.url))
      let feed = try sync.feed
      #expect(feed.errors == 1 && feed.lastError == error.description && !feed.isPaused)
      let circumstances = try Feeds(sync.store).circumstances(
        of: sync.feedID, feed, now: sync.clock.now)
      #expect(FeedTiming().next(feed, circumstances)?.reason == .failing)
      #expect(try sync.episode("a") != nil)
    }
  }

  @Test func theOperatorMayAllowItAndForbidItAgain() async throws {
    try await withSync { sync async throws in
      sync.serve(publicAnswer(page))
      try await sync.sync()
      for allows in [true, false] {
        _ = sync.transport.takeRequests()
        try await Feeds(sync.store).add(SyncFixture.url, .init(allowsPrivateAddress: allows))
        try await sync.sync()
        #expect(sync.transport.takeRequests().map(\.allowsPrivateAddresses) == [allows])
      }
      // Other settings do not change it.
      try await Feeds(sync.store).add(SyncFixture.url, .init(every: .seconds(60)))
      #expect(try sync.feed.requiresPublicAddress)
    }
  }

  @Test func aSettingThatIsChangedDuringTheRunStays() async throws {
    try await withSync { sync async throws in
      sync.serve(publicAnswer(page))
      sync.transport.beforeAnswer { [store = sync.store] _ in
        try await Feeds(store).add(SyncFixture.url, .init(allowsPrivateAddress: true))
      }
      try await sync.sync()
      #expect(try sync.feed.allowsPrivateAddress && sync.feed.hasPublicAddress)
    }
  }

  @Test(arguments: [304, 404, 500, 410])
  func anyAnswerOfThePublicHostIsRemembered(_ status: Int) async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("ETag", "\"1\"")))
      try await sync.sync()
      #expect(try !sync.feed.hasPublicAddress)
      sync.serve(publicAnswer("", status: status))
      if status == 304 {
        #expect(try await sync.sync().outcome == .notModified)
      } else {
        _ = try await sync.syncError()
      }
      #expect(try sync.feed.hasPublicAddress)
    }
  }

  @Test func anAnswerThatIsRefusedIsRememberedToo() async throws {
    try await withSync { sync async throws in
      sync.serve(publicAnswer("", status: 304))
      #expect(try await sync.syncError().code == .unaskedNotModified)
      #expect(try sync.feed.hasPublicAddress)
    }
  }

  @Test func aRunThatIsCancelledAfterTheFirstAnswerHasRememberedIt() async throws {
    try await withSync { sync async throws in
      sync.serve(publicAnswer(HomeFeedText([.init("a", 1)], next: "?page=1").text))
      sync.transport.script(SyncFixture.url + "?page=1", .failure(CancellationError()))
      await #expect(throws: CancellationError.self) { try await sync.sync() }
      #expect(try sync.feed.hasPublicAddress)
    }
  }

  @Test func aPrivateFeedStaysAllowedThoughARedirectLeadsToAPublicHost() async throws {
    try await withSync { sync async throws in
      sync.serve(
        .response(
          status: 200,
          body: Array(HomeFeedText([.init("a", 1)], next: "?page=1").text.utf8),
          effectiveURL: "https://mirror.example/home"))
      sync.transport.script(
        "https://mirror.example/home?page=1",
        .response(
          status: 200, body: Array(HomeFeedText.full(.init("b", 1)).utf8), isHostPublic: true))
      #expect(try await sync.sync().new == 2)
      #expect(try !sync.feed.hasPublicAddress)
    }
  }

  @Test func aRefusedRedirectIsReportedAsOne() async throws {
    try await withSync { sync async throws in
      sync.serve(publicAnswer(page))
      try await sync.sync()
      var refusal = HTTPError(.refusedAddress, "http://10.0.0.1/")
      refusal.isAfterRedirect = true
      sync.serve(.failure(refusal))
      let error = await #expect(throws: HTTPError.self) { try await sync.sync() }
      #expect(error?.code == .refusedAddress)
    }
  }

  private final class Count: Sendable {
    let value = Atomic(0)
  }

  /// The connection is refused before the server sees anything of the request.
  @Test func libcurlDoesNotConnectToThePrivateAddress() async throws {
    let requests = Count()
    let text = page
    let server = try LoopbackServer { _, connection in
      requests.value.add(1, ordering: .relaxed)
      try connection.send(Response(text: text))
    }
    defer { server.stop() }
    try await withSync { sync async throws in
      let transport = try CurlTransport()
      defer { transport.shutdown() }
      let engine = SyncEngine(store: sync.store, transport: transport)
      let feeds = Feeds(sync.store)
      try await feeds.add(server.url)
      let id = try feeds.find(server.url).id
      _ = try await engine.sync(id)
      #expect(requests.value.load(ordering: .relaxed) == 1)
      #expect(try !feeds.find(server.url).feed.hasPublicAddress)

      // As if its name had led to a public address before. The open connection is not used either.
      try await feeds.update(id) { $0.hasPublicAddress = true }
      let error = await #expect(throws: SyncError.self) { try await engine.sync(id) }
      #expect(error?.code == .privateAddress)
      #expect(requests.value.load(ordering: .relaxed) == 1)

      try await feeds.add(server.url, .init(allowsPrivateAddress: true))
      _ = try await engine.sync(id)
      #expect(requests.value.load(ordering: .relaxed) == 2)
    }
  }
}
