import EntityStore
import Foundation
import HTTPClient
import HomeFeed
import TestSupport
import Testing

@testable import FeedSync

/// Secrets come from files and are shown nowhere.
@Suite(.serialized) struct SecretTests {
  @Test(arguments: [
    ("https://u:p@a.example/x", "https://a.example/x"),
    ("https://a.example/x?api_key=s&page=2", "https://a.example/x?api_key=…&page=2"),
    ("https://a.example/?X-Amz-Signature=s#f", "https://a.example/?X-Amz-Signature=…#f"),
    ("https://a.example/?Access_Token=s&&token", "https://a.example/?Access_Token=…&&token"),
    ("https://a.example/?since=1&cursor=a=b", "https://a.example/?since=1&cursor=a=b"),
    ("https://a.example/?key=a=b", "https://a.example/?key=…"), ("not a url", "not a url"),
    ("https://a.example/?access_key=s", "https://a.example/?access_key=…"),
    ("https://a.example/?Subscription-Key=s", "https://a.example/?Subscription-Key=…"),
    ("https://a.example/?api%5Fkey=s&k=1", "https://a.example/?api%5Fkey=…&k=1"),
  ])
  func aURLIsShownWithoutSecrets(_ url: String, _ shown: String) {
    #expect(shownURL(url) == shown)
  }

  @Test func noErrorRepeatsASecretOfTheQuery() async throws {
    try await withSync { sync async throws in
      let url = "https://feed.example/x?api_key=s3cret"
      try await Feeds(sync.store).add(url)
      let id = try Feeds(sync.store).find(url).id
      for status in [304, 401, 404, 410, 429, 500] {
        sync.transport.script(url, .status(status))
        let error = try await #require(throws: SyncError.self) {
          try await sync.sync(id, ignoresWait: true)
        }
        #expect(!error.description.contains("s3cret"), "\(status)")
        try await Feeds(sync.store).resume(id)
      }
      #expect(
        try !Feeds(sync.store).runs(of: id).contains { $0.error?.contains("s3cret") != false })
    }
  }

  /// A feed that names its own secret in its URL, its pages and its checkpoint.
  @Test func noReportAndNoRecordOfARunRepeatsASecretOfTheQuery() async throws {
    try await withSync { sync async throws in
      let url = "https://feed.example/x?api_key=s3cret"
      try await Feeds(sync.store).add(url)
      let id = try Feeds(sync.store).find(url).id
      var texts: [String] = []
      func run(_ answer: ScriptedTransport.Answer) async throws {
        sync.transport.script(url, answer)
        do {
          let report = try await sync.engine.sync(id, options: .insisting) {
            texts.append("\($0)")
          }
          texts.append(String(decoding: try JSONEncoder().encode(report), as: UTF8.self))
        } catch {
          texts.append("\(error)")
        }
      }
      try await run(.page(HomeFeedText.full(.init("a", 1))))
      for next in [
        url, "https://other.example/?api_key=s3cret", "https://u:s3cret@feed.example/",
      ] {
        try await run(.page(HomeFeedText([.init("a", 1)], next: next).text))
      }
      for status in [204, 304, 401, 404, 429, 500, 503] { try await run(.status(status)) }
      try await run(.page("no document"))
      for wrong in ["ftp://u:s3cret@a.example", "https://u:s3cret@a.example/"] {
        let error = await #expect(throws: SyncError.self) { try await Feeds(sync.store).add(wrong) }
        texts.append("\(String(describing: error))")
      }
      do { _ = try Feeds(sync.store).find(url + "0") } catch { texts.append("\(error)") }
      let feed = try Feeds(sync.store).find(url).feed
      texts.append(feed.lastError ?? "")
      for run in try Feeds(sync.store).runs(of: id) {
        texts.append("\(run.error ?? "") \(try run.report)")
      }
      #expect(texts.count > 20)
      #expect(texts.filter { $0.contains("s3cret") } == [])
    }
  }

  @Test func aCredentialIsReadFromTheFolderOfTheUnit() throws {
    try withTemporaryFolder { folder in
      try Data("s3cret\n".utf8).write(to: URL(fileURLWithPath: folder.path("feed-token")))
      var feed = Feed(url: SyncFixture.url, entity: "Episode", addedAt: Date())
      #expect(try BearerToken.read(for: feed, environment: [:]) == nil)
      feed.credential = "feed-token"
      let environment = ["CREDENTIALS_DIRECTORY": folder.path]
      #expect(try BearerToken.read(for: feed, environment: environment) == "s3cret")
      for environment in [[:], ["CREDENTIALS_DIRECTORY": "relative"]] {
        let error = try #require(throws: SyncError.self) {
          try BearerToken.read(for: feed, environment: environment)
        }
        #expect(error.code == .missingToken && error.description.contains("feed-token"))
      }
      feed.credential = "other"
      let error = try #require(throws: SyncError.self) {
        try BearerToken.read(for: feed, environment: environment)
      }
      #expect(error.code == .missingToken && !error.description.contains("s3cret"))
    }
  }

  @Test(arguments: ["", ".", "..", "a/b", "/etc/passwd", "a b", "a\n", "a:b", "ü"])
  func aCredentialIsAPlainName(_ name: String) async throws {
    try await withSync { sync async throws in
      let error = try await #require(throws: SyncError.self) {
        try await Feeds(sync.store).add(SyncFixture.url, .init(credential: name))
      }
      #expect(error.code == .invalidFeed && !error.description.contains("\n"))
    }
  }

  @Test func aTokenFileAndACredentialTakeEachOthersPlace() async throws {
    try await withSync { sync async throws in
      let feeds = Feeds(sync.store)
      try await feeds.add(SyncFixture.url, .init(tokenFile: "/f"))
      try await feeds.add(SyncFixture.url, .init(credential: "c"))
      #expect(try sync.feed.credential == "c" && sync.feed.tokenFile == nil)
      try await feeds.add(SyncFixture.url, .init(tokenFile: "/f"))
      #expect(try sync.feed.credential == nil && sync.feed.tokenFile == "/f")
    }
  }

  @Test(arguments: [
    ("https://example.org/about", true), ("mailto:me@example.org", true),
    ("HTTP://a.example", true),
    ("example.org", false), ("ftp://a.example", false), ("https://a.example/(x)", false),
    ("https://u@a.example/", false), ("https://a.example/\r\nX: y", false), ("", false),
    ("mailto:nobody", false), ("https://a.example/ü", false),
  ])
  func aContactIsAnAddressThatCanStandInTheHeader(_ text: String, _ isContact: Bool) {
    #expect(UserAgent.isContact(text) == isContact)
  }
}

extension SyncEngine.Options {
  fileprivate static var insisting: Self {
    var options = Self()
    (options.ignoresWait, options.isFull) = (true, true)
    return options
  }
}
