import EntityStore
import FeedSync
import Foundation
import Glibc
import TestSupport
import Testing

/// `mooring top` in a terminal.
@Suite(.enabled(if: TmuxSession.isInstalled, "skipped: tmux is not installed"))
struct TopTerminalTests {
  @Test func keysChooseFilterAndExplain() async throws {
    try await withTop { terminal in
      #expect(try terminal.wait(for: "no route")[0].contains("1 problem"))
      try terminal.press("j")
      _ = try terminal.wait(for: "no job runs")
      try terminal.press("r")
      _ = try terminal.wait(for: "no run has brought news")
      try terminal.press("f", "/")
      try terminal.press("w", "e", "a")
      _ = try terminal.wait(for: "no row has this text")
      try terminal.press("BSpace", "BSpace", "BSpace", "n", "e", "w", "s", "Enter")
      _ = try terminal.wait(for: "filter: news")
      try terminal.press("Enter")
      let details = try terminal.wait(for: "mooring feed show 1")
      #expect(details.contains { $0.hasPrefix("url ") })
      try terminal.press("Escape")
      _ = try terminal.wait(for: "filter: news")
      try terminal.press("q")
      _ = try terminal.wait(for: "ended with 0.")
    }
  }

  @Test func itFollowsTheSizeOfTheTerminal() async throws {
    try await withTop { terminal in
      for (columns, rows) in [(40, 12), (200, 50), (20, 5), (80, 24)] {
        try terminal.resize(columns: columns, rows: rows)
        let lines = try terminal.wait(for: "\(columns)×\(rows)") {
          $0.count == rows && $0[rows - 1].hasPrefix("? keys") && $0[0].hasSuffix("1 problem")
            && $0[0].count == columns
        }
        #expect(lines.filter { $0.hasPrefix("? keys") }.count == 1)
      }
      try terminal.press("q")
      _ = try terminal.wait(for: "ended with 0.")
    }
  }

  @Test func aNewProblemAppearsByItself() async throws {
    try await withTop(failing: false) { terminal, jobs in
      _ = try terminal.wait(for: "good")
      try await fail(jobs.store)
      _ = try terminal.wait(for: "1 problem")
      _ = try terminal.wait(for: "no route")
      try terminal.press("q")
      _ = try terminal.wait(for: "ended with 0.")
    }
  }

  @Test(arguments: [(SIGTERM, 143), (SIGHUP, 129), (SIGQUIT, 131), (SIGINT, 0)])
  func aSignalRestoresTheTerminal(signal: Int32, status: Int) async throws {
    try await withTop { terminal in
      let pid = try String(contentsOfFile: terminal.folder.path("pid"), encoding: .utf8)
      let number = try #require(Int32(pid.trimmingCharacters(in: .whitespacesAndNewlines)))
      #expect(kill(number, signal) == 0)
      let lines = try terminal.wait(for: "ended with \(status).")
      #expect(lines.contains { $0.contains("exec") }, "the earlier screen is back")
    }
  }

  @Test(arguments: ["q", "C-c", "C-\\"]) func aKeyThatEndsItRestoresTheTerminal(key: String)
    async throws
  {
    try await withTop { terminal in
      try terminal.press(key)
      _ = try terminal.wait(for: key == "C-\\" ? "ended with 131." : "ended with 0.")
    }
  }

  @Test func itIsSuspendedAndContinued() async throws {
    try await withTop { terminal in
      for _ in 0..<2 {
        try terminal.press("C-z")
        _ = try terminal.wait(for: "a shell") { $0.last { !$0.isEmpty } == "shell>" }
        #expect(try terminal.settings().contains(" icanon"))
        try terminal.type("fg")
        _ = try terminal.wait(for: "? keys")
      }
      try terminal.press("C-z")
      _ = try terminal.wait(for: "a shell") { $0.last { !$0.isEmpty } == "shell>" }
      // In the background it may not draw.
      try terminal.type("bg; echo in the background")
      _ = try terminal.wait(for: "in the background") { $0.contains("in the background") }
      #expect(try terminal.settings().contains(" icanon"))
      try terminal.type("kill %1; wait; echo ended all")
      _ = try terminal.wait(for: "ended all") { $0.contains("ended all") }
    }
  }

  @Test func anErrorOfTheStoreIsReadAfterTheTerminalIsRestored() async throws {
    try await withTop { terminal, jobs in
      try FileManager.default.moveItem(atPath: jobs.path, toPath: jobs.path + ".away")
      let lines = try terminal.wait(for: "ended with 69.")
      #expect(lines.contains { $0.hasPrefix("mooring: ") }, "\(lines)")
      try FileManager.default.moveItem(atPath: jobs.path + ".away", toPath: jobs.path)
    }
  }

  @Test func aStoreThatWasReplacedIsOpenedAgain() async throws {
    try await withJobs { other in
      try await addFeed(to: other.store, title: "Another")
      try await withJobs { jobs in
        try await addFeed(to: jobs.store, title: "News")
        try await TmuxSession.with(store: jobs.path) { terminal in
          let path = terminal.folder.path("link")
          try pointLink(path, to: jobs.path)
          try terminal.typeMooring("top --every 0.2 --store \(path)")
          for (store, title) in [(other, "Another"), (jobs, "News"), (other, "Another")] {
            try pointLink(path, to: store.path)
            _ = try terminal.wait(for: title)
          }
          try terminal.press("q")
          _ = try terminal.wait(for: "ended with 0.")
        }
      }
    }
  }

  @Test func aDumbTerminalGetsOneScreen() async throws {
    try await withJobs { jobs in
      try await addFeed(to: jobs.store, title: "News")
      try await TmuxSession.with(store: jobs.path) { terminal in
        try terminal.typeMooring("top", environment: "TERM=dumb")
        let lines = try terminal.wait(for: "ended with 0.")
        #expect(lines.contains { $0.hasPrefix("condition ") })
        try terminal.typeMooring("top </dev/null")
        _ = try terminal.wait(for: "two") { $0.filter { $0.contains("ended with 0.") }.count == 2 }
      }
    }
  }

  // MARK: Support

  private func withTop(_ body: (TmuxSession) async throws -> Void) async throws {
    try await withTop { terminal, _ in try await body(terminal) }
  }

  /// Runs a body with `mooring top` on a screen, and expects the settings of the terminal to be
  /// the same at the end.
  private func withTop(
    failing: Bool = true, _ body: (TmuxSession, JobsStore) async throws -> Void
  ) async throws {
    try await withJobs { jobs in
      try await addFeed(to: jobs.store, title: "News")
      if failing { try await fail(jobs.store) }
      try await TmuxSession.with(store: jobs.path) { terminal in
        let before = try terminal.settings()
        try terminal.typeMooring("top --every 0.2")
        _ = try terminal.wait(for: "? keys")
        try await body(terminal, jobs)
        #expect(try terminal.settings() == before)
      }
    }
  }

  /// Lets a link name another folder, at once.
  private func pointLink(_ link: String, to folder: String) throws {
    let new = link + ".new"
    try FileManager.default.createSymbolicLink(atPath: new, withDestinationPath: folder)
    #expect(rename(new, link) == 0)
  }

  private func addFeed(to store: Store, title: String) async throws {
    let url = "https://host.example/feed.xml"
    _ = try await Feeds(store).add(subscriptions: [Feeds.Subscription(url)], .init())
    try await Feeds(store).update(1) { $0.customTitle = title }
  }

  private func fail(_ store: Store) async throws {
    try await Feeds(store).update(1) { feed in
      feed.errors = 3
      feed.lastError = "no route: try later"
    }
  }
}
