import Dispatch
import EntityStore
import FeedSync
import Foundation
import HomeFeed
import Migrations
import Synchronization
import TestSupport
import Testing

/// Other commands during a migration.
@Suite struct MigrateTurnTests {
  @Test func othersSeeTheProcessThatMigrates() throws {
    try withCities(pending: [Cities.second]) { store in
      let pid = "process \(ProcessInfo.processInfo.processIdentifier)"
      try whileMigrating(store) {
        expectFailure(try migrate("up", store: store), 75, pid, "wait for it")
        expectFailure(try migrate("abandon", store: store), 75, pid)
        expectFailure(try migrate("contract", store: store), 75, pid)
        let write = try mooring(
          "batch", "delete", "City", "--all", store: store, environment: environment(store))
        expectFailure(write, 75, pid, "a migration or a load is in progress")
        let status = try migrate("status", store: store)
        #expect(status.status == 0 && status.output.contains("migrating now: \(pid)"))
        #expect(status.output.contains("in progress: local 0002_more, step 1 of 3"))
        let check = try migrate("status", "--check", store: store)
        #expect(
          check.status == 75 && check.output == "local 0002_more is in progress; wait for it\n")
        #expect(try mooring("fetch", "City", "--count", store: store).output == "\(Cities.count)\n")
      }
      #expect(try migrate("status", "--check", store: store).status == 0)
    }
  }

  @Test func aSecondRunWaitsWithTheFlag() throws {
    try withCities(pending: [Cities.second]) { store in
      let second = try whileMigrating(store) {
        try StartedTool(
          "mooring", ["migrate", "up", "--wait", "50"], store: store,
          environment: environment(store))
      }
      let run = try second.finish()
      #expect(run.status == 0 && run.errors == "mooring: nothing is pending\n", "\(run.errors)")
      expectFailure(try migrate("up", "--wait", "-1", store: store), 64, "--wait")
    }
  }

  /// Runs `body` while a migration of this process is in progress and waits.
  private func whileMigrating<R>(_ store: String, _ body: () throws -> R) throws -> R {
    let begun = DispatchSemaphore(value: 0)
    let mayContinue = DispatchSemaphore(value: 0)
    let ended = DispatchSemaphore(value: 0)
    let folder = URL(fileURLWithPath: store).deletingLastPathComponent().path + "/migrations"
    let opened = try Store.open(
      at: store, migrations: [.feeds, .homeFeed, .directory(folder)], migrate: .never)
    Thread.detachNewThread {
      var options = MigrationOptions()
      let isFirst = Once()
      options.progress = { _ in
        guard isFirst.take() else { return }
        begun.signal()
        mayContinue.wait()
      }
      do {
        try opened.migrate(options)
      } catch {
        Issue.record(error)
        begun.signal()
      }
      ended.signal()
    }
    begun.wait()
    defer {
      mayContinue.signal()
      ended.wait()
    }
    return try body()
  }
}

/// Returns true for the first call only.
private final class Once: Sendable {
  private let isTaken = Atomic(false)

  func take() -> Bool { !isTaken.exchange(true, ordering: .relaxed) }
}
