import EntityStore
import FeedSync
import Foundation
import HomeFeed
import LoopbackHTTP
import Migrations
import TestSupport
import Testing

/// `mooring feed add` of many URLs, and the option that allows private addresses.
@Suite(.serialized) struct FeedAddTests {
  private static let list = """
    # my feeds
    https://a.example/1

      https://a.example/2\r
    not a url
    https://a.example/1
    https://u:hunter2@a.example/
    https://a.example/3#part
    """

  @Test func theLinesOfAFileAreAddedAndBadOnesReported() throws {
    try withTemporaryFolder { folder in
      let (store, file) = (folder.path("store"), folder.path("feeds.txt"))
      try Data(("\u{FEFF}" + Self.list).utf8).write(to: URL(fileURLWithPath: file))
      let run = try mooring(
        "feed", "add", "https://b.example/", "--from", file, "--every", "2h", store: store)
      #expect(run.status == 65)
      let lines = run.messages.filter { $0.contains(file) }
      #expect(lines.count == 3, "\(run.errors)")
      #expect(lines[0].contains("\(file):5: a feed has an http or https URL"))
      #expect(lines[1].contains("\(file):6: the same URL as line 2"))
      #expect(lines[2].contains("\(file):7: a feed's URL has no user name or password"))
      #expect(run.errors.contains("feeds: 4 added, 1 repeated"))
      #expect(run.errors.contains("2 of 7 URLs were not added; correct those"))
      #expect(!run.errors.contains("hunter2"))
      let feeds = try mooring("feed", "list", "--format", "json", store: store).output
      for url in ["https://b.example/", "https://a.example/1", "/2", "/3#part"] {
        #expect(feeds.contains(url + "\""))
      }
      let shown = try mooring("feed", "show", "https://a.example/2", store: store).output
      #expect(shown.contains("2 h 0 min"))
      let again = try mooring("feed", "add", "--from", file, "--quiet", store: store)
      #expect(again.status == 65 && again.messages.count == 3, "\(again.errors)")
    }
  }

  @Test func severalArgumentsAreAdded() throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      let run = try mooring(
        "feed", "add", "https://a.example/1", "ftp://a.example/", "https://a.example/2",
        store: store)
      #expect(run.status == 64)
      #expect(run.errors.contains("feeds: 2 added"))
      let again = try mooring(
        "feed", "add", "https://a.example/1", "https://a.example/2", store: store)
      #expect(again.status == 0 && again.errors == "mooring: feeds: 0 added, 2 changed\n")
    }
  }

  @Test func aListThatCannotBeReadAddsNothing() throws {
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      #expect(try mooring("feed", "add", store: store).status == 64)
      expectFailure(
        try mooring("feed", "add", "--from", folder.path("none"), store: store), 69,
        "there is no list of feeds")
      expectFailure(
        try mooring("feed", "add", "--from", "/dev/zero", store: store), 65, "longer than 64 MiB")
      #expect(!FileManager.default.fileExists(atPath: store))
      let empty = try mooring("feed", "add", "--from", "-", store: store)
      #expect(empty.status == 0 && empty.errors.contains("feeds: 0 added"))
    }
  }

  @Test func aFeedThatLeadsToAPrivateAddressNeedsTheOperatorsWord() async throws {
    let server = try LoopbackServer { _, connection in
      try connection.send(
        Response(text: #"{"version":"https://jsonfeed.org/version/1.1","title":"t","items":[]}"#))
    }
    defer { server.stop() }
    try await withTemporaryFolder { folder async throws in
      let path = folder.path("store")
      #expect(try mooring("feed", "add", server.url, store: path).status == 0)
      do {
        let store = try Store.open(at: path, migrations: [.homeFeed, .feeds], migrate: .never)
        let feeds = Feeds(store)
        try await feeds.update(try feeds.find(server.url).id) { $0.hasPublicAddress = true }
      }
      expectFailure(
        try mooring("sync", store: path), 77, "the feed had a public address before",
        "mooring feed add URL --allow-private")
      let shown = try mooring("feed", "show", "1", store: path).output
      #expect(shown.contains("public only, as before") && shown.contains("failing (1)"))
      #expect(try mooring("feed", "add", server.url, "--allow-private", store: path).status == 0)
      #expect(try mooring("sync", store: path).status == 0)
      #expect(try mooring("feed", "add", server.url, "--no-allow-private", store: path).status == 0)
      #expect(try mooring("sync", store: path).status == 77)
    }
  }
}
