import DurableJobs
import EntityModel
import EntityStore
import FeedSync
import Foundation
import FoundationXML
import HomeFeed
import Migrations
import StatusModel
import StatusPages
import TestSupport
import Testing
import WebServer

@Suite struct PageTests {
  private static let paths = [
    "/", "/feeds", "/feeds/1", "/runs", "/jobs", "/jobs/1", "/store", "/fetches", "/log",
    "/records",
    "/records/Episode", "/records/Episode/1",
  ]

  /// Texts that would be markup, control a terminal, or be a formula.
  private static let hostile = [
    "<script>alert(1)</script>", "\"><img src=x onerror=alert(1)>", "' onmouseover='alert(1)",
    "]]>&amp;&lt;", "\u{202E}gnp.exe", "a\u{0}b\u{1B}[31m", "=HYPERLINK(\"http://evil\")",
    String(repeating: "x", count: 1 << 20), "שלום עולם", "\u{FFFE}\u{FFFF}\u{1}",
  ]

  @Test(arguments: hostile.indices)
  func pagesStayWellFormedWithHostileText(_ index: Int) async throws {
    let text = Self.hostile[index]
    try await withSite(text: text) { site, temporary in
      for path in Self.paths {
        let html = try body(of: site.answer(request(path)))
        #expect(XMLParser(data: Data(html.utf8)).parse(), "\(path)")
        #expect(!html.contains("<script>alert"), "\(path)")
        #expect(!html.contains("<img"), "\(path)")
        let hidden = html.unicodeScalars.filter {
          $0.value < 0x20 && $0 != "\n" || $0 == "\u{202E}"
        }
        #expect(hidden.isEmpty, "\(path)")
        #expect(html.utf8.count < 200_000, "\(path)")
      }
      let report = try StatusReport.document(try StatusReader(temporary.store).read())
      #expect(XMLParser(data: Data(report.utf8)).parse())
      #expect(!report.contains("href=\"/"))
    }
  }

  @Test func eachPageIsAlsoJSON() async throws {
    try await withSite(text: "a\u{1B}\"b") { site, _ in
      for path in Self.paths {
        let json = try body(of: site.answer(request(path, [("format", "json")])))
        _ = try JSONSerialization.jsonObject(with: Data(json.utf8))
        #expect(!json.contains("\u{1B}"), "\(path)")
      }
    }
  }

  @Test func aTableIsAFileInWhichNoTextIsAFormula() async throws {
    try await withSite(text: "=cmd()") { site, _ in
      let csv = try body(
        of: site.answer(request("/feeds", [("format", "csv"), ("table", "feeds")])))
      #expect(csv.hasPrefix("feed,condition,since,"))
      #expect(csv.contains("'=cmd()"))
      let missing = site.answer(request("/feeds", [("format", "csv"), ("table", "none")]))
      #expect(missing.status == 404)
    }
  }

  @Test func pagesThatAreNotThereAreRefusedInOneLine() async throws {
    try await withSite(text: "title") { site, _ in
      for path in [
        "/none", "/feeds/99", "/feeds/x", "/jobs/99", "/records/None", "/records/_Feed",
        "/records/_Feed/1", "/records/Episode/99", "/records/Episode/1/2", "/feeds/1/2",
      ] {
        let response = site.answer(request(path))
        #expect(response.status == 404, "\(path)")
        let line = try body(of: response)
        #expect(line.split(separator: "\n").count == 1, "\(path)")
      }
      #expect(site.answer(request("/", [("format", "xml")])).status == 404)
    }
  }

  @Test func theJobsOfAStateAreListed() async throws {
    try await withSite(text: "title") { site, _ in
      let ready = try body(of: site.answer(request("/jobs", [("state", "ready")])))
      #expect(ready.contains("href=\"/jobs/1\""))
      let held = try body(of: site.answer(request("/jobs", [("state", "held")])))
      #expect(held.contains("None.") && !held.contains("href=\"/jobs/1\""))
      #expect(site.answer(request("/jobs", [("state", "lost")])).status == 404)
    }
  }

  @Test func aPredicateIsAnsweredWithItsPlanAndAMistakeIsExplained() async throws {
    try await withSite(text: "title") { site, _ in
      let path = "/records/Episode"
      let found = try body(of: site.answer(request(path, [("where", "title == \"title\"")])))
      #expect(found.contains("/records/Episode/1\""))
      #expect(found.contains("<summary>Plan</summary>"))
      let none = try body(of: site.answer(request(path, [("where", "title == \"other\"")])))
      #expect(none.contains("No record matches."))
      for mistake in ["title ==", "nothing == 1", "title == 1 AND (", "\u{0}"] {
        let refused = site.answer(request(path, [("where", mistake)]))
        #expect(refused.status == 400, "\(mistake)")
        #expect(try body(of: refused).contains("role=\"alert\""), "\(mistake)")
      }
    }
  }

  @Test func aRecordHasItsChangesAndNoPassword() async throws {
    try await withSite(text: "https://user:secret@host.example/") { site, temporary in
      let page = try body(of: site.answer(request("/records/Episode/1")))
      #expect(!page.contains("secret"))
      #expect(page.contains("insert"))
      #expect(page.contains("tests"))
      _ = temporary
    }
  }

  @Test func theURLOfAFeedIsShownWithoutItsSecret() async throws {
    try await withSite(text: "title", url: "https://host.example/feed?key=hidden") {
      site, _ in
      for path in ["/", "/feeds", "/feeds/1", "/runs"] {
        for format in ["", "json"] {
          let query: [WebRequest.Field] = format.isEmpty ? [] : [("format", format)]
          let text = try body(of: site.answer(request(path, query)))
          #expect(!text.contains("hidden"), "\(path)")
        }
      }
    }
  }

  @Test func theScriptIsSmall() async throws {
    try await withSite(text: "title") { site, _ in
      let script = try body(of: site.answer(request("/script.js")))
      #expect(script.utf8.count < 15_000)
    }
  }

  // MARK: Actions

  @Test func pagesAreReadOnlyUnlessActionsAreAllowed() async throws {
    try await withSite(text: "title") { site, temporary in
      let page = try body(of: site.answer(request("/jobs/1")))
      #expect(!page.contains("<form"))
      let refused = site.answer(form([("action", "cancel"), ("job", "1")]))
      #expect(refused.status == 403)
      #expect(try JobQueue(temporary.store).status(JobID(rawValue: 1))?.state == .ready)
    }
  }

  @Test func anActionIsTakenAndRecordedWithItsAuthor() async throws {
    try await withSite(text: "title", allowsActions: true) { site, temporary in
      let queue = JobQueue(temporary.store)
      #expect(try body(of: site.answer(request("/jobs/1"))).contains("value=\"cancel\""))
      let answer = site.answer(form([("action", "cancel"), ("job", "1")]))
      #expect(answer.status == 303)
      #expect(try queue.status(JobID(rawValue: 1))?.state == .cancelled)
      #expect(site.answer(form([("action", "retry"), ("job", "1")])).status == 303)
      #expect(site.answer(form([("action", "pause"), ("queue", "default")])).status == 303)
      #expect(try queue.pausedQueues().map(\.rawValue) == ["default"])
      #expect(site.answer(form([("action", "resume"), ("queue", "default")])).status == 303)
      #expect(site.answer(form([("action", "sync now"), ("feed", "1")])).status == 303)
      #expect(site.answer(form([("action", "cancel"), ("job", "99")])).status == 409)
      #expect(site.answer(form([("action", "destroy")])).status == 400)
      let actions = try StatusReader(temporary.store).read().actions
      #expect(
        actions.map(\.action) == [
          "cancel job", "sync feed", "resume queue", "pause queue", "retry job", "cancel job",
        ])
      #expect(Set(actions.map(\.author)) == ["operator"])
      #expect(actions.first?.outcome != "done")
      #expect(try body(of: site.answer(request("/log"))).contains("operator"))
      #expect(try temporary.store.history().allSatisfy { $0.author != "serve" })
    }
  }

  @Test func theLogOfActionsIsBounded() async throws {
    try await withSite(text: "title", allowsActions: true) { _, temporary in
      let store = temporary.store
      try await store.write { transaction in
        for number in 1...1_005 {
          try transaction.insert(
            "_Action",
            [
              "at": .date(transaction.now), "author": .string("a"), "action": .string("b"),
              "target": .string("\(number)"), "outcome": .string(""),
            ])
        }
      }
      try await ActionLog.add(action: "c", target: "d", outcome: "e", by: "f", to: store)
      #expect(try store.read { try $0.count(of: "_Action") } == 1_000)
      #expect(try StatusReader(store).read().actions.first?.author == "f")
    }
  }

  // MARK: Requests

  private func request(_ path: String, _ query: [WebRequest.Field] = []) -> WebRequest {
    WebRequest(method: "GET", path: path, query: query, headers: [], form: [])
  }

  private func form(_ fields: [WebRequest.Field]) -> WebRequest {
    WebRequest(method: "POST", path: "/actions", query: [], headers: [], form: fields)
  }

  private func body(of response: WebResponse) throws -> String {
    guard case .bytes(let bytes) = response.body else { return "" }
    return try #require(String(validating: bytes, as: UTF8.self))
  }

  /// Runs a body with the pages of a store that has a feed, a run, a job and an episode with texts.
  private func withSite<R>(
    text: String, url: String = "https://host.example/feed.xml", allowsActions: Bool = false,
    isolation: isolated (any Actor)? = #isolation,
    _ body: (StatusSite, TemporaryStore) async throws -> R
  ) async throws -> R {
    try await withTemporaryStore(
      migrations: [.feeds, .homeFeed, .jobs, .actions], isolation: isolation
    ) { temporary in
      let store = temporary.store
      _ = try await Feeds(store).add(subscriptions: [Feeds.Subscription(url)], .init())
      try await Feeds(store).update(1) { feed in
        feed.customTitle = text
        feed.errors = 2
        feed.lastError = text
      }
      let request = JobRequest(
        kind: "test", payload: try JSONEncoder().encode([String(text.prefix(1_000))]))
      try await JobQueue(store).enqueue(request)
      try await store.write(author: "tests") { transaction in
        try transaction.insert(Episode(id: "1", title: String(text.prefix(1_000))))
      }
      var options = StatusSite.Options()
      options.csrf = allowsActions ? "token" : nil
      options.author = "operator"
      return try await body(StatusSite(store, StatusReader(store), options: options), temporary)
    }
  }
}
