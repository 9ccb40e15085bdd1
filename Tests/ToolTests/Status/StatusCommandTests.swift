import DurableJobs
import EntityStore
import FeedSync
import Foundation
import TestSupport
import Testing

@Suite struct StatusCommandTests {
  @Test func aGoodStoreEndsWithZeroInBothForms() async throws {
    try await withJobs { jobs in
      let status = try await run(["status"], jobs)
      #expect(status.status == 0, "\(status.errors)")
      #expect(status.output.contains("feeds       none; add one with `mooring feed add URL`"))
      let check = try await run(["status", "--check"], jobs)
      #expect(check.status == 0, "\(check.errors)")
      #expect(check.output.hasPrefix("note: no backup is known"))
    }
  }

  @Test func aCheckEndsWithOneIfAFeedFails() async throws {
    try await withJobs { jobs in
      try await addFailingFeed(to: jobs.store, title: "News")
      let check = try await run(["status", "--check"], jobs)
      #expect(check.status == 1)
      #expect(check.errors == "")
      #expect(check.lines[0].hasPrefix("warning: 1 feed is failing: News: no route"))
      #expect(check.lines[1] == "  `mooring feed show 1`")
      let quiet = try await run(["status", "--check", "--quiet"], jobs)
      #expect(quiet.status == 1)
      #expect(quiet.output == "")
      #expect(try await run(["status"], jobs).status == 0)
    }
  }

  @Test func theJSONHasTheWholeStatus() async throws {
    try await withJobs { jobs in
      try await addFailingFeed(to: jobs.store, title: "News")
      let status = try await run(["status", "--format", "json"], jobs)
      let document = try JSONSerialization.jsonObject(with: Data(status.output.utf8))
      let members = try #require(document as? [String: Any])
      for name in [
        "problems", "feeds", "runs", "jobs", "workers", "file", "history", "migrations", "backups",
      ] {
        #expect(members[name] != nil, "\(name)")
      }
    }
  }

  @Test func textOfAFeedCannotControlTheTerminal() async throws {
    try await withJobs { jobs in
      try await addFailingFeed(to: jobs.store, title: "a\u{1B}[31mb\u{202E}c\nd\u{0}e")
      for arguments in [["status"], ["status", "--check"], ["status", "--format", "json"]] {
        let output = try await run(arguments, jobs).output
        let hidden = output.unicodeScalars.filter { $0.value < 0x20 && $0 != "\n" }
        #expect(hidden.isEmpty, "\(arguments)")
        #expect(!output.contains("\u{202E}"), "\(arguments)")
      }
    }
  }

  @Test func aMissingStoreAndAWrongFormatAreRefused() throws {
    try withTemporaryFolder { folder in
      expectFailure(try mooring("status", store: folder.path("none")), 69)
      expectFailure(
        try mooring("status", "--format", "csv", store: folder.path("none")), 64, "table or json")
    }
  }

  private func run(_ arguments: [String], _ jobs: JobsStore) async throws -> ToolRun {
    try await StartedTool("mooring", arguments, store: jobs.path).finished()
  }

  private func addFailingFeed(to store: Store, title: String) async throws {
    let url = "https://host.example/feed.xml"
    _ = try await Feeds(store).add(subscriptions: [Feeds.Subscription(url)], .init())
    try await Feeds(store).update(1) { feed in
      feed.customTitle = title
      feed.errors = 3
      feed.lastError = "no route: try later"
    }
  }
}
