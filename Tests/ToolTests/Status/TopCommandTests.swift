import FeedSync
import TestSupport
import Testing

/// `mooring top` without a terminal.
@Suite struct TopCommandTests {
  @Test func itPrintsOneScreenWithoutEscapes() async throws {
    try await withJobs { jobs in
      let url = "https://host.example/feed.xml"
      _ = try await Feeds(jobs.store).add(subscriptions: [Feeds.Subscription(url)], .init())
      try await Feeds(jobs.store).update(1) { feed in
        feed.customTitle = "a\u{1B}[31mb\u{202E}c\nd\u{0}e"
        feed.errors = 3
        feed.lastError = "no route: try later"
      }
      let top = try await StartedTool("mooring", ["top"], store: jobs.path).finished()
      #expect(top.status == 0, "\(top.errors)")
      #expect(top.lines[0].hasPrefix("warning: 1 feed is failing"))
      #expect(top.lines.contains { $0.hasPrefix("section ") })
      #expect(top.lines.contains { $0.hasPrefix("failing ") && $0.hasSuffix("try later") })
      #expect(top.lines.last == "no job runs, has failed or is poisoned")
      #expect(!top.output.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" })
      #expect(!top.output.contains("\u{202E}"))
    }
  }

  @Test func aMissingStoreAndAWrongTimeAreRefused() throws {
    try withTemporaryFolder { folder in
      expectFailure(try mooring("top", store: folder.path("none")), 69)
      for time in ["0", "-1", "nan", "3601"] {
        expectFailure(
          try mooring("top", "--every=\(time)", store: folder.path("none")), 64, "0.1 to 3600")
      }
    }
  }
}
