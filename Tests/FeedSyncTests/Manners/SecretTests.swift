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

  @Test func aByteOrderMarkIsNoPartOfASecret() throws {
    try withTemporaryFolder { folder throws in
      func header(_ kind: FeedSecret.Kind, _ text: String) throws -> String? {
        let file = folder.path("secret")
        try Data(text.utf8).write(to: URL(fileURLWithPath: file))
        let sent = try FeedSecrets([FeedSecret(kind, .file(file))]).read()
        return sent.first.map { "\($0.name): \($0.value)" }
      }
      let mark = "\u{FEFF}"
      #expect(try header(.bearer, mark + "s3cret") == "Authorization: Bearer s3cret")
      #expect(try header(.basic, mark + "u:p") == "Authorization: Basic dTpw")
      #expect(try header(.headers, mark + "X-Key: s3cret") == "X-Key: s3cret")
    }
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

  @Test(arguments: [401, 403])
  func aRefusalByAnotherServerDoesNotBlameTheSecret(_ status: Int) async throws {
    try await withSync { sync async throws in
      let file = sync.folder.path("token")
      try Data("s3cret".utf8).write(to: URL(fileURLWithPath: file))
      let secret = FeedSecret(.bearer, .file(file))
      try await Feeds(sync.store).add(SyncFixture.url, .init(secrets: [secret]))
      sync.transport.script(
        SyncFixture.url, .status(status),
        .response(status: status, effectiveURL: "https://other.example/x?token=t"))
      #expect(try await sync.syncError().advice == "check the feed's secret")
      sync.clock.advance(by: 60)
      #expect(
        try await sync.syncError().advice
          == "the secret is not sent to other.example, where the server redirects; "
          + "add https://other.example/x?token=… if it is meant for it")
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

  @Test(arguments: [
    (FeedSecret.Kind.bearer, "s3cret\n", "Authorization: Bearer s3cret"),
    (.basic, "jo:s3cret\n", "Authorization: Basic am86czNjcmV0"),
    (.headers, "# a key\n\nX-Api-Key:s3cret\n", "X-Api-Key: s3cret"),
  ])
  func aCredentialIsReadFromTheFolderOfTheUnit(
    _ kind: FeedSecret.Kind, _ text: String, _ sent: String
  ) throws {
    try withTemporaryFolder { folder in
      try Data(text.utf8).write(to: URL(fileURLWithPath: folder.path("feed-token")))
      #expect(try FeedSecrets().read(environment: [:]).isEmpty)
      let secrets = FeedSecrets([FeedSecret(kind, .credential("feed-token"))])
      let environment = ["CREDENTIALS_DIRECTORY": folder.path]
      #expect(try lines(secrets, environment) == [sent])
      for environment in [[:], ["CREDENTIALS_DIRECTORY": "relative"]] {
        let error = try #require(throws: SyncError.self) {
          try secrets.read(environment: environment)
        }
        #expect(error.code == .missingSecret && error.description.contains("feed-token"))
      }
      let error = try #require(throws: SyncError.self) {
        try FeedSecrets([FeedSecret(kind, .credential("other"))]).read(environment: environment)
      }
      #expect(error.code == .missingSecret && !error.description.contains("s3cret"))
    }
  }

  private func lines(
    _ secrets: FeedSecrets, _ environment: [String: String] = [:]
  ) throws -> [String] {
    try secrets.read(environment: environment).map { "\($0.name): \($0.value)" }
  }

  @Test(arguments: [
    ("jo:päss:wörd \r\nx", "am86cMOkc3M6d8O2cmQg"), (":", "Og=="), ("\njo:", "am86"),
  ])
  func thePasswordIsTheFirstLineInUTF8(_ text: String, _ encoded: String) throws {
    try withTemporaryFolder { folder in
      let file = folder.path("password")
      try Data(text.utf8).write(to: URL(fileURLWithPath: file))
      #expect(
        try lines(FeedSecrets([FeedSecret(.basic, .file(file))]))
          == ["Authorization: Basic " + encoded])
    }
  }

  @Test(arguments: [
    Data(), Data("no colon".utf8), Data("jo:s3cret\u{7}".utf8), Data("jo:s3\tcret".utf8),
    Data("jo:\u{7f}".utf8), Data([0x6A, 0x3A, 0xFF]),
    Data(("jo:" + String(repeating: "s3cret", count: 20_000)).utf8),
  ])
  func aPasswordFileThatCannotBeSentIsAnError(_ content: Data) throws {
    try expectUnusable(.basic, content, "user:password")
  }

  @Test(arguments: [
    ("X-Key s3cret", "line 1"), ("A: 1\n\nX Key: s3cret", "line 3"), (": s3cret", "line 1"),
    ("Häder: s3cret", "line 1"), ("A: s3cret\u{1}", "control character"),
    ("Host: s3cret", "sets Host itself"), ("content-length: 7", "itself"),
    ("Transfer-Encoding: chunked", "itself"), ("CONNECTION: close", "itself"),
    ("Range: bytes=0-1", "itself"), ("If-None-Match: s3cret", "itself"),
    ("Accept-Encoding: br", "itself"), ("Accept: s3cret", "itself"),
    ("User-Agent: s3cret", "itself"), ("Proxy-Authorization: s3cret", "itself"),
    ("Cache-Control: s3cret", "itself"), ("# nothing\n", "no header"),
    (String(repeating: "A: s3cret\n", count: 21), "21"),
    ("A: " + String(repeating: "s3cret", count: 2_000), "8192"),
  ])
  func aHeaderFileThatCannotBeSentIsAnError(_ text: String, _ named: String) throws {
    try expectUnusable(.headers, Data(text.utf8), named.replacing("line ", with: "line: "))
  }

  private func expectUnusable(
    _ kind: FeedSecret.Kind, _ content: Data, _ named: String
  ) throws {
    try withTemporaryFolder { folder in
      let file = folder.path("secret")
      try content.write(to: URL(fileURLWithPath: file))
      let error = try #require(throws: SyncError.self) {
        try FeedSecrets([FeedSecret(kind, .file(file))]).read(environment: [:])
      }
      #expect(error.code == .missingSecret && error.description.contains(file))
      #expect(!error.description.contains("s3cret"))
      #expect(error.description.contains(named), "\(error)")
    }
  }

  @Test func aHeaderFileMayAuthorizeOnlyAlone() throws {
    try withTemporaryFolder { folder in
      let (headers, token) = (folder.path("headers"), folder.path("token"))
      try Data("authorization: Digest s3cret".utf8).write(to: URL(fileURLWithPath: headers))
      try Data("s3cret".utf8).write(to: URL(fileURLWithPath: token))
      var secrets = FeedSecrets([FeedSecret(.headers, .file(headers))])
      #expect(try lines(secrets) == ["authorization: Digest s3cret"])
      secrets.set(FeedSecret(.bearer, .file(token)))
      let error = try #require(throws: SyncError.self) { try secrets.read(environment: [:]) }
      #expect(error.code == .missingSecret && !error.description.contains("s3cret"))
    }
  }

  @Test(arguments: ["", ".", "..", "a/b", "/etc/passwd", "a b", "a\n", "a:b", "ü"])
  func aCredentialIsAPlainName(_ name: String) async throws {
    try await withSync { sync async throws in
      let error = try await #require(throws: SyncError.self) {
        try await Feeds(sync.store).add(
          SyncFixture.url, .init(secrets: [FeedSecret(.basic, .credential(name))]))
      }
      #expect(error.code == .invalidFeed && !error.description.contains("\n"))
    }
  }

  @Test func aTokenAndAPasswordReplaceEachOtherAndHeadersStay() async throws {
    try await withSync { sync async throws in
      let feeds = Feeds(sync.store)
      let headers = FeedSecret(.headers, .file("/h: x"))
      try await feeds.add(SyncFixture.url, .init(secrets: [headers]))
      for secret in [
        FeedSecret(.bearer, .file("/f")), FeedSecret(.bearer, .credential("c")),
        FeedSecret(.basic, .credential("c")), FeedSecret(.basic, .file("/f")),
        FeedSecret(.bearer, .file("/f")),
      ] {
        try await feeds.add(SyncFixture.url, .init(secrets: [secret]))
        #expect(try sync.feed.secrets.all == [secret, headers])
      }
      try await feeds.add(SyncFixture.url, .init(removesSecrets: true))
      #expect(try sync.feed.secrets.isEmpty)
    }
  }

  @Test(arguments: [
    ("http://a.example/", true), ("HTTP://a.example/", true), ("https://a.example/", false),
    ("http://localhost:8080/", false), ("http://127.0.0.1/", false), ("http://[::1]/", false),
    ("http://10.0.0.1/", true),
  ])
  func aSecretIsUnencryptedOverHTTPToAnotherMachine(_ url: String, _ isOpen: Bool) {
    let settings = Feeds.Settings(secrets: [FeedSecret(.bearer, .file("/t"))])
    #expect(Feeds.sendsUnencrypted(settings, to: url) == isOpen)
    #expect(!Feeds.sendsUnencrypted(Feeds.Settings(), to: url))
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
