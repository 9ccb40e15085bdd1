import EntityModel
import EntityStore
import Foundation
import HTTPClient
import HomeFeed
import TestSupport
import Testing

@testable import FeedSync

@Suite(.serialized) struct FeedSettingsTests {
  private let page = HomeFeedText.full(.init("a", 1))

  @Test func theTokenIsSentAsBearerAndIsInNoErrorAndNoRecord() async throws {
    try await withSync { sync async throws in
      let file = sync.folder.path("token")
      try Data("  s3cret \r\nsecond line\n".utf8).write(to: URL(fileURLWithPath: file))
      try await Feeds(sync.store).add(
        SyncFixture.url, .init(secrets: [FeedSecret(.bearer, .file(file))]))
      sync.serve(.status(401))
      let error = try await sync.syncError()
      #expect(!error.description.contains("s3cret"))
      let request = try #require(sync.transport.takeRequests().first)
      #expect(request.header("Authorization") == "Bearer s3cret")
      #expect(try !sync.store.records(of: "_Feed").joined().contains("s3cret"))
    }
  }

  @Test(arguments: ["", "\n\n", "   \nx", "a\0b", "a\u{7f}", "\u{1b}[31m"])
  func aTokenFileThatHoldsNoTokenIsAnError(_ text: String) async throws {
    try await withSync { sync async throws in
      let file = sync.folder.path("token")
      try Data(text.utf8).write(to: URL(fileURLWithPath: file))
      try await Feeds(sync.store).add(
        SyncFixture.url, .init(secrets: [FeedSecret(.bearer, .file(file))]))
      sync.serve(.page(page))
      #expect(try await sync.syncError().code == .missingSecret)
      #expect(sync.transport.takeRequests().isEmpty)
    }
  }

  @Test func theTokenDoesNotFollowAFeedToAnotherServer() async throws {
    try await withSync { sync async throws in
      let file = sync.folder.path("token")
      try Data("s3cret".utf8).write(to: URL(fileURLWithPath: file))
      try await Feeds(sync.store).add(
        SyncFixture.url, .init(secrets: [FeedSecret(.bearer, .file(file))]))
      sync.serve(
        .response(
          status: 200, body: Array(HomeFeedText([.init("a", 1)], next: "?page=1").text.utf8),
          effectiveURL: "https://mirror.example/home"))
      sync.transport.script(
        "https://mirror.example/home?page=1", .page(HomeFeedText.full(.init("b", 1))))
      #expect(try await sync.sync().new == 2)
      let tokens = sync.transport.takeRequests().map { $0.header("Authorization") }
      #expect(tokens == ["Bearer s3cret", nil])
    }
  }

  /// A URL that a redirect has taught is on another server, or that of https.
  @Test(arguments: [
    "https://other.example/v1/home", "https://feed.example:8443/v1/home",
    "http://feed.example/v1/home",
  ])
  func noSecretGoesToALearnedURLOfAnotherOrigin(_ learned: String) async throws {
    try await withSync { sync async throws in
      let (password, headers) = (sync.folder.path("password"), sync.folder.path("headers"))
      try Data("jo:s3cret".utf8).write(to: URL(fileURLWithPath: password))
      try Data("X-Api-Key: s3cret\nAccept-Language: de".utf8)
        .write(to: URL(fileURLWithPath: headers))
      try await Feeds(sync.store).add(
        SyncFixture.url,
        .init(secrets: [FeedSecret(.basic, .file(password)), FeedSecret(.headers, .file(headers))]))
      try await Feeds(sync.store).update(sync.feedID) { $0.learnedURL = learned }
      sync.transport.script(learned, .page(page))
      try await sync.sync()
      #expect(sync.transport.takeRequests().map(\.secretHeaders.count) == [0])
      try await Feeds(sync.store).update(sync.feedID) { $0.learnedURL = nil }
      sync.serve(.page(page))
      try await sync.sync()
      #expect(
        sync.transport.takeRequests().flatMap(\.secretHeaders).map { "\($0.name): \($0.value)" }
          == ["Authorization: Basic am86czNjcmV0", "X-Api-Key: s3cret", "Accept-Language: de"])
    }
  }

  @Test func theLimitsOfTheFeedAreThoseOfItsRequests() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page))
      try await sync.sync()
      let feeds = Feeds(sync.store)
      try await feeds.add(SyncFixture.url, .init(sizeLimit: .set(4_096), timeLimit: .set(300)))
      #expect(try sync.feed.sizeLimit == 4_096 && sync.feed.timeLimit == 300)
      try await sync.sync()
      try await feeds.add(SyncFixture.url, .init(every: .seconds(60)))
      try await sync.sync()
      try await feeds.add(SyncFixture.url, .init(sizeLimit: .reset, timeLimit: .reset))
      try await sync.sync()
      let requests = sync.transport.takeRequests()
      let size = SyncLimits.pageBytesMax
      #expect(requests.map(\.decodedBytesMax) == [size, 4_096, 4_096, size])
      #expect(requests.map(\.timeout) == [60, 300, 300, 60].map { .seconds($0) })
      // A limit of its own allows a slow server.
      #expect(requests.map(\.endsSlowTransfers) == [true, false, false, true])
    }
  }

  @Test func limitsThatAreSetDuringARunStay() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page))
      sync.transport.beforeAnswer { [sync] _ in
        try await Feeds(sync.store).add(
          SyncFixture.url,
          .init(
            secrets: [FeedSecret(.basic, .file("/p"))], sizeLimit: .set(4_096),
            timeLimit: .set(300)))
      }
      try await sync.sync()
      let feed = try sync.feed
      #expect(feed.sizeLimit == 4_096 && feed.timeLimit == 300 && !feed.secrets.isEmpty)
      #expect(feed.bodyHash == nil, "the answer was to a request without the password")
    }
  }

  @Test func aLimitIsToBeDoubledUpToTheMaximum() {
    func size(_ bytes: Int, _ command: String? = "mooring feed add URL") -> String? {
      let request = HTTPRequest(url: SyncFixture.url, decodedBytesMax: bytes)
      return LimitAdvice(request, command: command).text(on: HTTPError(.tooLarge, ""))
    }
    func time(_ seconds: Int) -> String? {
      var request = HTTPRequest(url: SyncFixture.url)
      request.timeout = .seconds(seconds)
      var error = HTTPError(.timeout, "")
      error.isAtTimeLimit = true
      return LimitAdvice(request, command: nil).text(on: error)
    }
    #expect(
      size(32 << 20)
        == "check that the URL is a feed, or raise the limit of 32M with "
        + "`mooring feed add URL --size-limit 64M`")
    #expect(size(200 << 20, nil)?.hasSuffix("limit of 200M with `--size-limit 400M`") == true)
    #expect(size(1_500)?.contains("of 1500 with `mooring feed add URL --size-limit 3000`") == true)
    #expect(size(700 << 20)?.contains("--size-limit 1G") == true)
    #expect(size(1 << 30) == nil)
    #expect(time(60)?.hasSuffix("the limit of 1m with `--time-limit 2m`") == true)
    #expect(time(45)?.contains("--time-limit 90s") == true)
    #expect(time(3_600) == nil)
  }

  @Test func aTooLargePageNamesTheFeedsLimit() async throws {
    try await withSync { sync async throws in
      try await Feeds(sync.store).add(SyncFixture.url, .init(sizeLimit: .set(200 << 20)))
      sync.serve(.failure(HTTPError(.tooLarge, SyncFixture.url)))
      let error = await #expect(throws: HTTPError.self) { try await sync.sync() }
      #expect(error?.advice.contains("`mooring feed add URL --size-limit 400M`") == true)
    }
  }

  @Test func aFeedThatIsRemovedAndAddedAgainFindsItsRecords() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("ETag", "\"1\"")))
      try await sync.sync()
      try await sync.edit("a") { $0.progress = 0.5 }
      try await Feeds(sync.store).update(sync.feedID) { $0.isRemoved = true }
      #expect(try await sync.syncError().code == .unknownFeed)
      #expect(try Feeds(sync.store).list().isEmpty)
      #expect(try await Feeds(sync.store).add(SyncFixture.url))
      _ = sync.transport.takeRequests()
      #expect(try await sync.sync().unchanged == 1)
      #expect(sync.transport.takeRequests().map { $0.header("If-None-Match") } == [nil])
      #expect(try sync.episode("a")?.progress == 0.5)
    }
  }

  @Test func aPausedFeedThatIsRemovedAndAddedAgainIsActive() async throws {
    try await withSync { sync async throws in
      try await Feeds(sync.store).update(sync.feedID) { ($0.isPaused, $0.isRemoved) = (true, true) }
      try await Feeds(sync.store).add(SyncFixture.url)
      #expect(try !sync.feed.isPaused)
    }
  }

  @Test(
    arguments: [
      .init(entity: "LearningPath"), .init(secrets: [FeedSecret(.bearer, .file("/t"))]),
      .init(secrets: [FeedSecret(.bearer, .credential("c"))]),
      .init(secrets: [FeedSecret(.basic, .file("/p"))]),
      .init(secrets: [FeedSecret(.headers, .credential("h"))]),
    ] as [Feeds.Settings])
  func settingsThatAffectItemsMakeTheNextRunReadAll(_ settings: Feeds.Settings) async throws {
    try await withSync { sync async throws in
      sync.serve(
        .page(HomeFeedText.full(.init("a", 1), checkpoint: "c1"), ("ETag", "\"1\"")))
      try await sync.sync()
      try await Feeds(sync.store).add(SyncFixture.url, .init(entity: "Episode"))
      #expect(try sync.feed.etag != nil && sync.feed.checkpoint == "c1", "nothing has changed")
      try await Feeds(sync.store).add(SyncFixture.url, settings)
      let feed = try sync.feed
      #expect(feed.etag == nil && feed.checkpoint == nil && feed.fullAt == nil)
      #expect(feed.bodyHash == nil && feed.freshFor == nil)
    }
  }

  @Test func anotherEntityDuringARunMakesTheNextOneReadAll() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page, ("ETag", "\"1\"")))
      sync.transport.beforeAnswer { [sync] _ in
        try await Feeds(sync.store).add(SyncFixture.url, .init(entity: "LearningPath"))
      }
      try await sync.sync()
      #expect(try sync.feed.entity == "LearningPath" && sync.feed.etag == nil)
      #expect(try sync.feed.fullAt == nil)
    }
  }

  @Test func withOtherSettingsAnInterruptedListingStartsAgain() async throws {
    try await withSync { sync async throws in
      let items = (0..<2_000).map { HomeFeedText.Item("\($0)", 1) }
      let pages = HomeFeedText.pages([items, [.init("z", 1)]], url: SyncFixture.url)
      sync.serve(pages)
      sync.transport.failAfter(1)
      await #expect(throws: HTTPError.self) { try await sync.sync() }
      sync.transport.heal()
      try await Feeds(sync.store).add(SyncFixture.url, .init(entity: "LearningPath"))
      _ = sync.transport.takeRequests()
      #expect(try await !sync.sync().isResumed)
      #expect(sync.transport.takeRequests().map(\.url) == pages.map(\.url))
    }
  }

  @Test func settingsThatChangeDuringARunStay() async throws {
    try await withSync { sync async throws in
      sync.serve(.page(page))
      sync.transport.beforeAnswer { [sync] _ in
        try await Feeds(sync.store).update(sync.feedID) {
          $0.isPaused = true
          $0.every = 60
        }
      }
      try await sync.sync()
      #expect(try sync.feed.isPaused)
      #expect(try sync.feed.every == 60)
      #expect(try sync.feed.fullAt != nil)
    }
  }

  @Test func itemsWithoutAKindGoToTheEntityThatTheFeedNames() async throws {
    try await withSync { sync async throws in
      try await Feeds(sync.store).add(SyncFixture.url, .init(entity: "LearningPath"))
      sync.serve(
        .page(
          """
          {"version":"https://jsonfeed.org/version/1.1","title":"t","items":[{"id":"1"}]}
          """))
      #expect(try await sync.sync().new == 1)
      #expect(try sync.store.records(of: "LearningPath").count == 1)
    }
  }

  @Test func anEntityThatCannotTakeAFeedIsAnError() async throws {
    try await withSync { sync async throws in
      await #expect(throws: SyncError.self) {
        try await Feeds(sync.store).add(SyncFixture.url, .init(entity: "_Feed"))
      }
      try await Feeds(sync.store).update(sync.feedID) { $0.entity = "Nothing" }
      sync.serve(.page(page))
      #expect(try await sync.syncError().code == .missingTarget)
    }
  }

  @Test(arguments: [
    "ftp://h/x", "h/x", "https://", "https://u:p@h/x", "https://h/a b", "https://h/a\nb", "",
    "file:///etc/passwd",
  ])
  func onlyPlainWebAddressesCanBeFeeds(_ url: String) async throws {
    try await withSync { sync async throws in
      let error = try await #require(throws: SyncError.self) {
        try await Feeds(sync.store).add(url)
      }
      #expect(error.code == .invalidFeed)
      #expect(!error.description.contains("\n"))
    }
  }
}
