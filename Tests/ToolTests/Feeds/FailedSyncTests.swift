import Foundation
import LoopbackHTTP
import TestSupport
import Testing

/// Syncs whose feeds fail: what is printed, with which status, and what stays.
@Suite(.serialized) struct FailedSyncTests {
  private static let document =
    #"{"version":"https://jsonfeed.org/version/1.1","title":"A\n feed","items":[{"id":"1"}]}"#

  /// Serves a feed, and failures depending on the path: `/404`, `/redirect`, `/loop`, `/page`.
  private func withServer(_ body: (LoopbackServer, String) throws -> Void) throws {
    let server = try LoopbackServer { request, connection in
      switch request.path {
      case "/feed": try connection.send(Response(text: Self.document))
      case "/redirect":
        try connection.send(Response(status: 302, headers: [("Location", "ftp://a.example/")]))
      case "/loop": try connection.send(Response(status: 302, headers: [("Location", "/loop")]))
      case "/page": try connection.send(Response(text: "<html><body>none</body></html>"))
      case "/moved": try connection.send(Response(status: 302, headers: [("Location", "/404")]))
      case "/rejected":
        try connection.send(
          Response(
            text: #"{"format":"homefeed/1","mode":"full","epoch":"e","version":1,"#
              + #""entities":[{"id":"bad","kind":"Episode","rev":-1}]}"#))
      default:
        try connection.send(Response(status: Int(request.path.dropFirst()) ?? 500))
      }
    }
    defer { server.stop() }
    try withTemporaryFolder { folder in
      let store = folder.path("store")
      try body(server, store)
      #expect(try mooring("check", store: store).status == 0)
    }
  }

  @Test func eachChosenFeedHasAnEntryWithItsErrorAndCounts() throws {
    struct Entry: Decodable {
      let feed: String
      let outcome: String
      let requests: Int
      let new: Int
      let error: String?
      let errorCode: String?
      let errorStatus: Int?
    }
    try withServer { server, store throws in
      let urls = ["/404", "/feed", "/moved", "/redirect"].map { server.url + $0 }
      for url in urls {
        #expect(try mooring("feed", "add", url, store: store).status == 0)
      }
      let json = try mooring("sync", "--format", "json", store: store)
      #expect(json.status == 69 && json.messages.count == 3, "\(json.errors)")
      let entries = try JSONDecoder().decode([Entry].self, from: Data(json.output.utf8))
      #expect(entries.map(\.feed) == urls)
      #expect(entries.map(\.outcome) == ["failed", "synced", "failed", "failed"])
      #expect(entries.map(\.requests) == [1, 1, 2, 1])
      #expect(entries.map(\.errorCode) == ["notFound", nil, "notFound", "badRedirect"])
      #expect(entries.map(\.errorStatus) == [404, nil, 404, nil])
      #expect(entries[0].error?.hasPrefix("there is no feed there") == true)
      #expect(entries[1].error == nil && entries[1].new == 1)

      let lines = try mooring("sync", "--now", "--format", "jsonl", store: store).lines
      #expect(lines.count == 4 && lines[2].contains(#""outcome":"failed""#))
      let rows = CommaSeparated.rows(
        of: try mooring("sync", "--now", "--format", "csv", store: store).output)
      #expect(rows.count == 5 && rows[0].last == "error")
      #expect(rows[1][1] == "failed" && rows[1].last?.contains("there is no feed") == true)
      let table = try mooring("sync", "--now", store: store).lines
      #expect(table.count == 5)
      #expect(table[3].split(separator: " ").prefix(2) == [Substring(urls[2]), "failed"])

      // The requests of a failed run count in its record, too.
      let shown = try mooring("feed", "show", "3", "--format", "json", store: store).output
      #expect(shown.contains(#""requests":2"#) && !shown.contains(#""requests":0"#))
    }
  }

  @Test(
    arguments: [
      ("/400", 69, "check the URL"), ("/401", 69, "--token-file"), ("/403", 69, "in a browser"),
      ("/404", 69, "check the URL"), ("/410", 69, "gone for good"), ("/451", 69, "check the URL"),
      ("/408", 75, "try again later"), ("/425", 75, "try again later"), ("/429", 75, "a wait"),
      ("/500", 75, "try again later"), ("/503", 75, "a wait"), ("/page", 65, "HTML"),
      ("/304", 65, "not conditional"), ("/204", 65, "no content"),
      ("/redirect", 65, "redirects to a URL that cannot be requested"),
      ("/loop", 65, "redirects too often"), ("/rejected", 65, "no item of the feed can be used"),
    ] as [(String, Int32, String)])
  func aFailureHasTheStatusOfItsCause(_ path: String, _ status: Int32, _ part: String) throws {
    try withServer { server, store throws in
      let url = server.url + path
      expectFailure(
        try mooring("sync", url, store: store), status, "\(url) was not added: ", part)
      // The wait that a server has requested is kept.
      let kept = try run("mooring-dump", ["records", "_Feed"], store: store)
      #expect(kept.output.isEmpty == (path != "/429"), "\(kept.output)")
      #expect(try mooring("feed", "list", "--format", "jsonl", store: store).output.isEmpty)
      #expect(try mooring("feed", "add", url, store: store).errors.contains("added the feed"))
      let again = try mooring("sync", url, "--now", store: store)
      expectFailure(again, status, part)
      #expect(!again.errors.contains("was not added"))
      #expect(try mooring("feed", "list", "--format", "jsonl", store: store).lines.count == 1)
    }
  }

  @Test func onlyTheURLsThatAreFeedsAreAdded() throws {
    try withServer { server, store throws in
      let urls = ["/404", "/feed", "/page"].map { server.url + $0 }
      let sync = try run("mooring", ["sync"] + urls, store: store)
      #expect(sync.status == 69)
      try #require(sync.messages.count == 3, "\(sync.errors)")
      #expect(sync.messages[0].hasPrefix("mooring: \(urls[0]) was not added: "))
      #expect(sync.messages[1] == "mooring: added the feed \(urls[1])")
      #expect(sync.messages[2].hasPrefix("mooring: \(urls[2]) was not added: "))
      let listed = try mooring("feed", "list", "--format", "jsonl", store: store)
      #expect(listed.lines.count == 1)
      #expect(listed.output.contains(#""title":"A feed""#) && listed.output.contains(urls[1]))
      let table = try mooring("feed", "list", store: store).lines
      #expect(table[0].hasSuffix("  title") && table[1].hasSuffix("  A feed"))
    }
  }

  @Test func aDetachedSyncOfAnUnknownURLAddsNothingYet() throws {
    try withServer { server, store throws in
      let url = server.url + "/feed"
      let sync = try mooring("sync", url, "--detach", store: store)
      #expect(sync.status == 0 && sync.output == "job 1\n", "\(sync.errors)")
      #expect(sync.errors.contains("\(url) is added as soon as its document can be read"))
      #expect(try mooring("feed", "list", "--format", "jsonl", store: store).output.isEmpty)
      let job = try mooring("jobs", "show", "1", "--format", "json", store: store).output
      #expect(job.contains("candidateAddedAt"))
    }
  }
}
