import Foundation
import LoopbackHTTP
import TestSupport
import Testing

/// The output about a feed: `feed show`, `sync --verbose`, `sync --explain`.
@Suite(.serialized) struct FeedMannersTests {
  private static let document =
    #"{"version":"https://jsonfeed.org/version/1.1","title":"t","items":[{"id":"1"}]}"#

  /// Serves a feed that is fresh for 20 minutes, moved, busy or gone, depending on its path.
  private func withFeeds(_ body: (LoopbackServer, String) throws -> Void) throws {
    let server = try LoopbackServer { request, connection in
      let isKnown = request.header("If-None-Match") == "\"1\""
      switch request.path {
      case "/moved":
        try connection.send(Response(status: 301, headers: [("Location", "/feed?api_key=s3cret")]))
      case "/busy":
        try connection.send(Response(status: 503, headers: [("Retry-After", "3600")]))
      case "/gone": try connection.send(Response(status: 410))
      case "/missing": try connection.send(Response(status: 404))
      case "/ill-formed":
        try connection.send(
          Response(
            text: "<rss version=\"2.0\"><channel><title>A & B</title>"
              + "<item><guid>1</guid></item><item><guid>2</guid></item></channel></rss>"))
      default:
        let promise = request.path == "/fresh" ? [("Cache-Control", "max-age=1200")] : []
        try connection.send(
          Response(
            status: isKnown ? 304 : 200, headers: [("ETag", "\"1\"")] + promise,
            text: Self.document))
      }
    }
    defer { server.stop() }
    try withTemporaryFolder { try body(server, $0.path("store")) }
  }

  @Test func verboseWritesOneLineForEachRequestAndNoSecret() throws {
    try withFeeds { server, store throws in
      let url = server.url + "/moved"
      let first = try mooring("sync", url, "--verbose", store: store)
      #expect(first.status == 0)
      #expect(first.messages.count == 3)
      #expect(first.messages[0].hasPrefix("mooring: GET  \(url)  301  "))
      #expect(first.messages[1].hasPrefix("mooring: GET  \(server.url)/feed?api_key=…  200  "))
      #expect(first.messages[1].hasSuffix("  same connection  redirected from \(url)"))
      #expect(first.messages[2] == "mooring: added the feed \(url)")
      let second = try mooring("sync", url, "--verbose", "--quiet", store: store)
      #expect(second.messages.count == 2)
      #expect(second.messages[1].contains("  304  "))
      #expect(second.messages[1].contains("  If-None-Match  redirected from"))
      let shown = try mooring("feed", "show", url, store: store).output
      for text in [first.errors, second.errors, shown] { #expect(!text.contains("s3cret")) }
    }
  }

  @Test func aFreshFeedIsNotRequestedAndExplainGivesTheReason() throws {
    try withFeeds { server, store throws in
      let url = server.url + "/fresh"
      #expect(try mooring("sync", url, store: store).status == 0)
      let again = try mooring("sync", url, store: store)
      #expect(again.status == 0 && again.lines.last?.contains("  fresh  ") == true)
      #expect(again.errors.contains("no request was sent"))
      let explained = try mooring("sync", "--explain", "--format", "csv", store: store)
      #expect(explained.status == 0 && explained.errors.isEmpty)
      #expect(explained.output.contains("\(url),no,"))
      #expect(explained.output.contains("stays good for another"))
      #expect(server.requests.count == 1)
      #expect(
        try mooring("sync", url, "--now", store: store).lines.last?.contains("not mod") == true)
      #expect(server.requests.last?.header("If-None-Match") == "\"1\"")
    }
  }

  @Test func explainReportsEachFeedWithoutARequest() throws {
    try withFeeds { server, store throws in
      for path in ["new", "busy", "gone", "paused"] {
        #expect(try mooring("feed", "add", "\(server.url)/\(path)", store: store).status == 0)
      }
      #expect(try mooring("feed", "pause", "4", store: store).status == 0)
      for path in ["busy", "gone"] {
        #expect(try mooring("sync", "\(server.url)/\(path)", store: store).status != 0)
      }
      let count = server.requests.count
      let lines = try mooring("sync", "--explain", store: store).lines
      #expect(lines.count == 5)
      #expect(lines[0].split(separator: " ") == ["number", "feed", "now", "next", "why"])
      #expect(lines[1].contains(" yes ") && lines[1].hasSuffix("never asked before"))
      #expect(lines[2].contains(" no ") && lines[2].contains("asked to wait"))
      #expect(lines[3].contains(" never ") && lines[3].contains("gone for good"))
      #expect(lines[4].contains(" never ") && lines[4].contains("paused"))
      let json = try mooring("sync", "--explain", "3", "--format", "json", store: store).output
      #expect(json.contains(#""isAsked":false"#) && json.contains(#""number":3"#))
      #expect(server.requests.count == count)
      #expect(try mooring("feed", "resume", "3", store: store).status == 0)
      #expect(try mooring("sync", "--explain", "3", store: store).output.contains("failed run"))
    }
  }

  @Test func showPrintsTheLastRunsTheValidatorsAndTheLastError() throws {
    try withFeeds { server, store throws in
      let url = server.url + "/fresh"
      #expect(try mooring("sync", url, store: store).status == 0)
      let shown = try mooring("feed", "show", "1", store: store).output
      for part in [
        "\netag           \"1\"\n", "\nvalidators of  \(url)\n", "\nfresh for      20 min 0 s\n",
        "\nstate          active\n", "\nrun ", "  synced ",
      ] {
        #expect(shown.contains(part), "\(part) in\n\(shown)")
      }
      #expect(try mooring("feed", "add", server.url + "/busy", store: store).status == 0)
      #expect(try mooring("sync", server.url + "/busy", store: store).status == 75)
      let busy = try mooring("feed", "show", "2", "--format", "json", store: store).output
      #expect(busy.contains(#""lastError":"the server requests a wait "#))
      #expect(busy.contains(#""outcome":"failed""#) && busy.contains(#""requests":1"#))
      let list = try mooring("feed", "list", store: store).output
      #expect(list.contains("  failing (1): the server requests a wait  "))
      #expect(list.contains(/\s\d{4}-\d\d-\d\dT\d\d:\d\dZ/), "\(list)")
    }
  }

  @Test func salvagedItemsOfAnIllFormedDocumentAreReported() throws {
    try withFeeds { server, store throws in
      let url = server.url + "/ill-formed"
      let sync = try mooring("sync", url, "--format", "json", store: store)
      #expect(sync.status == 0 && sync.output.contains(#""salvagedItems":2"#))
      let warning = try #require(sync.messages.first { $0.contains("ill-formed in 1 place") })
      #expect(warning.hasPrefix("mooring: \(url): the document is"))
      #expect(warning.hasSuffix("; all 2 items were read; report it to the publisher"))
      let again = try mooring("sync", url, "--full", "--quiet", store: store)
      #expect(again.status == 0 && again.errors.isEmpty)
      let shown = try mooring("feed", "show", url, store: store).lines
      let title = try #require(shown.first { $0.hasPrefix("run ") })
      #expect(title.contains("  duplicates  rejected  salvaged  pages  "))
      #expect(shown.contains { $0.hasPrefix("document       the document is ill-formed in 1 ") })
      let json = try mooring("feed", "show", url, "--format", "json", store: store).output
      #expect(json.contains(#""salvagedItems":2"#))
    }
  }

  @Test func anUnknownFeedEndsWithItsStatus() throws {
    try withFeeds { server, store throws in
      let url = server.url + "/missing"
      #expect(try mooring("feed", "add", url, store: store).status == 0)
      for arguments in [["sync", url], ["sync"]] {
        expectFailure(try run("mooring", arguments, store: store), 69, "there is no feed there")
      }
    }
  }

  @Test func theContactIsInTheUserAgent() throws {
    try withFeeds { server, store throws in
      let url = server.url + "/feed"
      #expect(try mooring("sync", url, store: store).status == 0)
      #expect(
        try mooring("sync", url, "--contact", "mailto:me@example.org", store: store).status == 0)
      let variable = ["MOORING_WORKER_CONTACT": "https://example.org/about"]
      #expect(try mooring("sync", url, store: store, environment: variable).status == 0)
      #expect(
        server.requests.map { $0.header("User-Agent") } == [
          "mooring/0.1", "mooring/0.1 (+mailto:me@example.org)",
          "mooring/0.1 (+https://example.org/about)",
        ])
    }
  }

  @Test func noVerbPrintsASecretOfTheURL() throws {
    try withFeeds { server, store throws in
      let urls = ["feed", "busy", "gone"].map { "\(server.url)/\($0)?access_key=s3cret" }
      let first = try mooring("feed", "add", urls[0], "--every", "1h", store: store)
      #expect(first.errors.contains("access_key=…"))
      let runs = try [
        [["feed", "add"] + urls, ["sync"] + urls], [["sync", "--now", "--verbose"]],
        ["json", "jsonl", "csv", "table"].map { ["sync", "1", "--now", "--format", $0] },
        ["json", "jsonl", "csv", "table"].map { ["feed", "list", "--format", $0] },
        ["json", "table"].map { ["feed", "show", "1", "--format", $0] },
        [["feed", "show", "2"], ["sync", "--explain"], ["sync", "--detach"], ["jobs", "list"]],
        [["feed", "show", urls[0] + "0"], ["feed", "add", "ftp://u:s3cret@a.example/"]],
        [["feed", "add", urls[0], "--every", "2h"], ["feed", "mapping", "1"]],
      ].flatMap { $0 }.map { try run("mooring", $0, store: store) }
      for run in [first] + runs {
        #expect(!run.output.contains("s3cret") && !run.errors.contains("s3cret"))
      }
      #expect(server.requests.contains { $0.target.contains("s3cret") })
    }
  }

  @Test func aCredentialIsSentAndShownNowhere() throws {
    try withFeeds { server, store throws in
      try withTemporaryFolder { folder throws in
        let url = server.url + "/feed"
        try Data("s3cret\n".utf8).write(to: URL(fileURLWithPath: folder.path("token")))
        #expect(
          try mooring("feed", "add", url, "--credential", "token", store: store).status == 0)
        let missing = try mooring("sync", url, store: store)
        expectFailure(missing, 69, "CREDENTIALS_DIRECTORY")
        #expect(server.requests.isEmpty)
        let sync = try mooring(
          "sync", url, "--verbose", store: store,
          environment: ["CREDENTIALS_DIRECTORY": folder.path])
        #expect(sync.status == 0 && !sync.errors.contains("s3cret"))
        #expect(server.requests.last?.header("Authorization") == "Bearer s3cret")
        let shown = try mooring("feed", "show", "1", store: store).output
        #expect(shown.contains("\ncredential     token\n") && !shown.contains("s3cret"))
      }
    }
  }

  @Test(arguments: [
    (["sync", "--explain", "--now"], "--now"), (["sync", "--explain", "--verbose"], "--verbose"),
    (["sync", "--detach", "--verbose"], "--verbose"),
    (["sync", "--detach", "--explain"], "--explain"),
    (["sync", "--contact", "nobody"], "--contact"),
    (["feed", "show", "1", "--format", "csv"], "csv"), (["feed", "show"], "feed"),
    (
      ["feed", "add", "http://a.example", "--token-file", "f", "--credential", "c"], "--credential"
    ),
    (["feed", "add", "https://a.example", "--credential", "../c"], "credential"),
  ])
  func conflictingOptionsAreRefused(_ arguments: [String], _ named: String) throws {
    try withTemporaryFolder { folder throws in
      let refused = try run("mooring", arguments, store: folder.path("store"))
      #expect(refused.status == 64, "\(refused.errors)")
      #expect(refused.messages.first?.contains(named) == true, "\(refused.errors)")
    }
  }
}
