import Foundation
import LoopbackHTTP
import TestSupport
import Testing

/// `mooring feed add --check`, and the secrets and limits of feeds.
@Suite(.serialized) struct FeedCheckedAddTests {
  private static let feed = """
    {"version":"https://jsonfeed.org/version/1.1","title":"Talks",\
    "items":[{"id":"1","title":"One"},{"id":"2","title":"Two"}]}
    """

  private func withSite(_ body: (LoopbackServer, TemporaryFolder) throws -> Void) throws {
    let server = try LoopbackServer { request, connection in
      let html = [("Content-Type", "text/html; charset=utf-8")]
      switch request.path {
      case "/", "/empty":
        let links = """
          <link rel="alternate" type="application/feed+json" href="feed?a=1&amp;b=2">
          <link rel="alternate" type="application/rss+xml" title="Comments" href="/comments">
          """
        try connection.send(
          Response(
            headers: html,
            text: "<!doctype html><html><head><meta charset=utf-8>"
              + (request.path == "/" ? links : "") + "</head><body>Hi</body></html>"))
      case "/feed": try connection.send(Response(text: Self.feed))
      case "/private":
        let isKnown =
          request.header("Authorization") == "Basic am86czNjcmV0"
          && request.header("X-Api-Key") == "s3cret"
        try connection.send(Response(status: isKnown ? 200 : 401, text: Self.feed))
      case "/faulty":
        let items = #"{},{},{"id":"1","date_published":"soon"}"#
        let version = "https://jsonfeed.org/version/1.1"
        try connection.send(Response(text: #"{"version":"\#(version)","items":[\#(items)]}"#))
      case "/large": try connection.send(Response(text: String(repeating: " ", count: 2_000)))
      default: try connection.send(Response(status: 404))
      }
    }
    defer { server.stop() }
    try withTemporaryFolder { try body(server, $0) }
  }

  @Test func aCheckedFeedIsAddedWithItsTitle() throws {
    try withSite { server, folder throws in
      let (store, url) = (folder.path("store"), server.url + "/feed")
      let add = try mooring("feed", "add", url, "--check", store: store)
      #expect(
        add.messages == [
          "mooring: \(url): JSON Feed, 2 items, \"Talks\"", "mooring: added the feed \(url)",
        ])
      #expect(add.status == 0 && server.requests.count == 1)
      let shown = try mooring("feed", "show", url, "--format", "json", store: store).output
      #expect(shown.contains(#""title":"Talks""#))
      let again = try mooring("feed", "add", url, "--check", "--quiet", store: store)
      #expect(again.status == 0 && again.errors.isEmpty)
    }
  }

  @Test func aSiteLeadsToTheFeedThatItNames() throws {
    try withSite { server, folder throws in
      let store = folder.path("store")
      let (site, url) = (server.url + "/", server.url + "/feed?a=1&b=2")
      let add = try mooring("feed", "add", site, "--check", store: store)
      #expect(
        add.messages == [
          "mooring: \(url): JSON Feed, 2 items, \"Talks\"",
          "mooring: added the feed \(url), which \(site) names",
          "mooring: \(site) also names \(server.url)/comments (\"Comments\")",
        ])
      #expect(try mooring("sync", store: store).status == 0)
      let feeds = try mooring("feed", "list", "--format", "jsonl", store: store)
      #expect(feeds.lines.count == 1 && feeds.output.contains("/feed?a=1"))
    }
  }

  @Test func whatIsNoFeedIsNotAdded() throws {
    try withSite { server, folder throws in
      let store = folder.path("store")
      func add(_ path: String, _ more: String...) throws -> ToolRun {
        try run("mooring", ["feed", "add", server.url + path, "--check"] + more, store: store)
      }
      expectFailure(
        try add("/empty"), 65, "\(server.url)/empty was not added: ", "names no feed",
        "; or add it without a check: --no-check")
      expectFailure(try add("/nothing"), 69, "there is no feed there")
      let refused = try add("/private")
      #expect(refused.status != 0 && refused.errors.contains("refuses access"))
      expectFailure(try add("/large", "--size-limit", "1k"), 65, "too large")
      #expect(try mooring("feed", "list", "--format", "jsonl", store: store).lines.isEmpty)
      // Without a check nobody is asked.
      let count = server.requests.count
      #expect(try mooring("feed", "add", server.url + "/nothing", store: store).status == 0)
      #expect(
        try mooring("feed", "add", server.url + "/empty", "--no-check", store: store).status == 0)
      #expect(server.requests.count == count)
    }
  }

  @Test func eachURLOfAListIsChecked() throws {
    try withSite { server, folder throws in
      let (store, file) = (folder.path("store"), folder.path("list"))
      let urls = ["/", "/nothing", "/feed", "/feed"].map { server.url + $0 }
      try Data(urls.joined(separator: "\n").utf8).write(to: URL(fileURLWithPath: file))
      let add = try mooring("feed", "add", "--from", file, "--check", store: store)
      #expect(add.status == 69)
      #expect(add.errors.contains("\(file):2: there is no feed there"))
      #expect(add.errors.contains("\(file):4: the same URL as line 3"))
      #expect(add.errors.contains("feeds: 2 added, 1 repeated"))
      #expect(add.errors.contains("1 of 4 URLs were not added; add them again later, or without"))
      try Data("\(urls[1])\nnot a url\n".utf8).write(to: URL(fileURLWithPath: file))
      let refused = try mooring("feed", "add", "--from", file, "--check", store: store)
      #expect(refused.status == 69)
      #expect(refused.messages.last?.contains("2 of 2 URLs were not added; correct those") == true)
      #expect(refused.messages.last?.contains("; add the others again later") == true)
      #expect(try mooring("feed", "list", "--format", "jsonl", store: store).lines.count == 2)
    }
  }

  @Test func nobodyIsAskedForAFeedThatCannotBeStored() throws {
    try withSite { server, folder throws in
      let store = folder.path("store")
      #expect(try mooring("migrate", "up", "--to", "homefeed@2", store: store).status == 0)
      expectFailure(
        try mooring("feed", "add", server.url + "/feed", "--check", store: store), 78,
        "pending migrations")
      #expect(server.requests.isEmpty)
    }
  }

  @Test func theSettingsOfAFeedThatASiteNamesStay() throws {
    try withSite { server, folder throws in
      let store = folder.path("store")
      let (site, url) = (server.url + "/", server.url + "/feed?a=1&b=2")
      #expect(try mooring("feed", "add", url, "--every", "2h", store: store).status == 0)
      expectFailure(
        try mooring("feed", "add", site, "--check", "--every", "1m", store: store), 64, url,
        "exists already")
      #expect(try mooring("feed", "show", url, store: store).output.contains("2 h 0 min"))
      let again = try mooring("feed", "add", site, "--check", store: store)
      #expect(again.status == 0)
      #expect(again.errors.contains("\(url), which \(site) names, is a feed already"))
    }
  }

  @Test func theUnusableItemsAndFaultsOfAFeedAreReported() throws {
    try withSite { server, folder throws in
      let store = folder.path("store")
      let add = try mooring("feed", "add", server.url + "/faulty", "--check", store: store)
      #expect(add.status == 0)
      #expect(add.errors.contains("JSON Feed, 3 items, 2 of them unusable\n"), "\(add.errors)")
      #expect(add.errors.contains("/faulty: 1 date cannot be read"))
    }
  }

  @Test func secretsAndLimitsAreUsedShownAndRemoved() throws {
    try withSite { server, folder throws in
      let (store, url) = (folder.path("store"), server.url + "/private")
      let (password, headers) = (folder.path("password"), folder.path("headers"))
      try Data("jo:s3cret\n".utf8).write(to: URL(fileURLWithPath: password))
      try Data("# key\nX-Api-Key: s3cret\n".utf8).write(to: URL(fileURLWithPath: headers))
      let secrets = ["--password-file", password, "--header-file", headers]
      let add = try run(
        "mooring",
        ["feed", "add", url, "--check", "--size-limit", "100M", "--time-limit", "5m"] + secrets,
        store: store)
      #expect(add.status == 0, "\(add.errors)")
      let sync = try mooring("sync", "--verbose", "--format", "json", store: store)
      let table = try mooring("feed", "show", url, store: store).output
      for part in [
        "\npassword file  \(password)\n", "\nheader file    \(headers)\n",
        "\nsize limit     100 MiB\n", "\ntime limit     5 min 0 s\n",
      ] { #expect(table.contains(part), "\(part) in\n\(table)") }
      let json = try mooring("feed", "show", url, "--format", "json", store: store).output
      #expect(json.contains(#""sizeLimitBytes":104857600"#))
      #expect(json.contains(#""timeLimitSeconds":300"#))
      for text in [add.errors, sync.output, sync.errors, table, json] {
        #expect(!text.contains("s3cret") && !text.contains("am86"))
      }
      let inspect = try run("mooring", ["feed", "inspect", url] + secrets, store: store)
      #expect(inspect.status == 0 && inspect.output.contains("--password-file \(password)"))
      let reset = try mooring(
        "feed", "add", url, "--no-credentials", "--size-limit", "default", "--time-limit",
        "default", store: store)
      #expect(reset.status == 0)
      let shown = try mooring("feed", "show", url, store: store).output
      for name in ["password", "header", "size limit", "time limit"] {
        #expect(!shown.contains("\n\(name)"))
      }
      #expect(try mooring("sync", "--now", store: store).status != 0)
    }
  }

  @Test func aSecretOverHTTPIsWarnedOf() throws {
    try withTemporaryFolder { folder throws in
      func add(_ url: String, _ more: String...) throws -> String {
        let words = ["feed", "add", url, "--token-file", "/t"] + more
        return try run("mooring", words, store: folder.path("store")).errors
      }
      #expect(try add("http://a.example/?key=s3cret").contains("key=…: the secret is sent unenc"))
      #expect(try add("http://a.example/", "--quiet").isEmpty)
      for url in ["https://a.example/", "http://localhost/", "http://127.0.0.1:8080/"] {
        #expect(try !add(url).contains("unencrypted"))
      }
    }
  }

  @Test(arguments: [
    (["--token-file", "a", "--password-file", "b"], "--token-file does not go with --password"),
    (["--credential", "a", "--password-credential", "b"], "--password-credential"),
    (["--header-file", "a", "--header-credential", "b"], "--header-credential"),
    (["--no-credentials", "--token-file", "a"], "--no-credentials"),
    (["--size-limit", "1023"], "--size-limit takes 1k to 1G"),
    (["--size-limit", "2G"], "1k to 1G"),
    (["--size-limit", "-1"], "size-limit"), (["--size-limit", "much"], "100M"),
    (["--time-limit", "0s"], "--time-limit takes 1s to 1h"), (["--time-limit", "2h"], "1s to 1h"),
    (["--time-limit", "1500ms"], "1s to 1h"), (["--time-limit", "soon"], "5m"),
    (["--password-credential", "../c"], "credential"),
  ])
  func settingsThatCannotBeAreRefused(_ words: [String], _ named: String) throws {
    try withTemporaryFolder { folder throws in
      let refused = try run(
        "mooring", ["feed", "add", "https://a.example/"] + words, store: folder.path("store"))
      #expect(refused.status == 64, "\(refused.errors)")
      #expect(refused.errors.contains(named), "\(refused.errors)")
    }
  }
}
