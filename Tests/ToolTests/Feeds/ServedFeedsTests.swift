import DurableJobs
import EntityStore
import FeedSync
import Foundation
import HomeFeed
import LoopbackHTTP
import Migrations
import TestSupport
import Testing

@testable import feed_server

/// Real feeds and recorded answers, served by `feed-server` and synced by `mooring`: one
/// `feed add`, one `sync`, and a second one that finds nothing new.
@Suite(.serialized) struct ServedFeedsTests {
  private static let corpora: URL? = {
    let package = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let shared =
      ProcessInfo.processInfo.environment["MOORING_SHARED"].map { URL(filePath: $0) }
      ?? package.deletingLastPathComponent().appending(path: "shared")
    let folder = shared.appending(path: "corpora")
    return FileManager.default.fileExists(atPath: folder.path) ? folder : nil
  }()

  struct Feed: Sendable, CustomTestStringConvertible {
    let target: String
    let items: Int
    var mapping: String?
    var requests = 1
    var testDescription: String { target }
  }

  static let feeds = [
    Feed(target: "/netnewswire/json/DaringFireball.json", items: 48),
    Feed(target: "/netnewswire/xml/atp.rss", items: 100),
    Feed(target: "/netnewswire/xml/qemu.atom", items: 10),
    Feed(
      target: "/spaces/dumri3ebknon/environments/master/entries?order=sys.createdAt", items: 11,
      mapping: "entries"),
    Feed(
      target: "/youtube/v3/playlistItems?playlistId=P", items: 13, mapping: "playlist",
      requests: 2),
  ]

  @Test(
    .enabled(if: corpora != nil, "needs ../shared/corpora beside the package"), arguments: feeds)
  func aFeedSyncsWithOneCommandAndASecondSyncWritesNothing(_ feed: Feed) throws {
    try withServedCorpora { server, folder throws in
      let (store, url) = (folder.path("store"), server.url + feed.target)
      let mapping = try feed.mapping.map { ["--mapping", try Self.fixture($0)] } ?? []
      let add = try run("mooring", ["feed", "add", url] + mapping, store: store)
      try #require(add.status == 0, "\(add.errors)")
      let first = try mooring("sync", url, "--format", "csv", store: store)
      try #require(first.status == 0, "\(first.errors)")
      #expect(CommaSeparated.rows(of: first.output)[1][2] == String(feed.items), "\(first.output)")
      #expect(server.requests.count == feed.requests)
      let titled = try mooring(
        "fetch", "Episode", "--where", "title != nil", "--count", store: store)
      #expect(titled.status == 0 && titled.output != "0\n", "\(titled.output)\(titled.errors)")

      let before = try Self.lastTransaction(store)
      let second = try mooring("sync", url, "--now", "--format", "csv", store: store)
      try #require(second.status == 0, "\(second.errors)")
      #expect(
        CommaSeparated.rows(of: second.output)[1][1...5] == ["not modified", "0", "0", "0", "0"])
      #expect(try Self.lastTransaction(store) == before)
      // Byte for byte what the first answer had.
      let asked = server.requests
      try #require(asked.count == feed.requests + 1)
      let again = try HTTPAnswer.ask("GET \(feed.target)", port: server.port)
      #expect(asked.last?.target == feed.target)
      #expect(asked.last?.header("If-None-Match") == again["etag"])
      #expect(asked.last?.header("If-Modified-Since") == again["last-modified"])
      #expect(asked.first?.header("If-None-Match") == nil)
    }
  }

  @Test(.enabled(if: corpora != nil, "needs ../shared/corpora beside the package"))
  func aMappingOfAnAPIHasAtMost25Lines() throws {
    for name in Self.feeds.compactMap(\.mapping) {
      let text = try String(contentsOfFile: try Self.fixture(name), encoding: .utf8)
      #expect(text.split(separator: "\n").count <= 25)
    }
  }

  private func withServedCorpora(
    _ body: (LoopbackServer, TemporaryFolder) throws -> Void
  ) throws {
    let corpora = try #require(Self.corpora)
    try withTemporaryFolder { folder in
      let recordings = folder.path("recordings")
      try FileManager.default.createDirectory(
        atPath: recordings, withIntermediateDirectories: true)
      try FileManager.default.copyItem(
        atPath: corpora.appending(path: "contentful/recordings/EntryTests").path,
        toPath: recordings + "/entries")
      try Self.recordPlaylist(corpora, in: recordings)
      let service = FeedService(
        history: FeedHistory(catalog: Catalog(seed: 1, paths: 0, episodes: 0)), pageSize: 10,
        folder: FileFolder(path: corpora.path),
        recordings: try RecordedAnswers(folder: recordings))
      let server = try LoopbackServer { try service.handle($0, $1) }
      defer { server.stop() }
      try body(server, folder)
    }
  }

  /// The two pages of a listing, of which no headers are kept, with those that their server sends.
  private static func recordPlaylist(_ corpora: URL, in folder: String) throws {
    let path = "/youtube/v3/playlistItems?playlistId=P"
    for (page, query) in [(1, ""), (2, "&pageToken=CAoQAA")] {
      let body = try Data(
        contentsOf: corpora.appending(
          path: "youtube/playlist_items/playlist_items/playlist_items_paged_\(page).json"))
      try body.write(to: URL(fileURLWithPath: "\(folder)/playlist-\(page).json"))
      let description = """
        {"path": "\(path + query)", "status": 200,
         "headers": {"ETag": "\\"page-\(page)\\"", "Content-Type": "application/json"}}
        """
      try Data(description.utf8).write(
        to: URL(fileURLWithPath: "\(folder)/playlist-\(page).meta.json"))
    }
  }

  private static func fixture(_ name: String) throws -> String {
    let file = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "Fixtures/\(name).yaml")
    try #require(FileManager.default.fileExists(atPath: file.path))
    return file.path
  }

  private static func lastTransaction(_ folder: String) throws -> Int {
    let store = try Store.open(at: folder, migrations: [.homeFeed, .feeds, .jobs])
    defer { store.close() }
    return try store.statistics().lastTransaction
  }
}
