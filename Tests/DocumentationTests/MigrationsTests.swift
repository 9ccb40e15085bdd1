import Foundation
import Mooring
import SystemSupport
import TestSupport
import Testing

/// The code of the page "Migrations", run.
@Suite struct MigrationsTests {
  @Test func aLineOfOnesOwn() async throws {
    try await withTemporaryFolder { parent in
      let folder = parent.path("store")
      let (walks, pace) = (Self.walks, Self.pace)
      let first = try Store.open(
        at: folder, migrations: [MigrationSource(embedded: [("0001_walks", Array(walks.utf8))])],
        migrate: .ifEmpty)
      let id = try await first.write {
        try $0.insert("Walk", ["meters": .double(6_000), "minutes": .double(50)])
      }
      // listing
      let line = MigrationSource(embedded: [
        (name: "0001_walks", bytes: Array(walks.utf8)),
        (name: "0002_pace", bytes: Array(pace.utf8)),
      ])
      let code = MigrationSource.code([
        MigrationCode("pace", revision: 1) { record in
          guard case .double(let meters) = try record["meters"],
            case .double(let minutes) = try record["minutes"], minutes > 0
          else { return }
          try record.set("pace", to: .double(meters / minutes / 60))
        }
      ])
      var options = Store.Options()
      options.program = "walker 2.0"
      let store = try Store.open(
        at: folder, migrations: [line, code], migrate: .pending, options: options)
      // end
      #expect(try store.read { try $0.get(id)?["pace"] } == .double(2))
      #expect(try store.migrationHistory().last?.program == "walker 2.0")
      try requireClean(store)
    }
  }

  @Test func runningWhatIsPending() throws {
    try withTemporaryFolder { parent in
      let folder = parent.path("store")
      _ = try Store.open(
        at: folder,
        migrations: [MigrationSource(embedded: [("0001_walks", Array(Self.walks.utf8))])],
        migrate: .ifEmpty)
      let store = try Store.open(
        at: folder,
        migrations: [
          MigrationSource(embedded: [
            ("0001_walks", Array(Self.walks.utf8)), ("0002_less", Array(Self.less.utf8)),
          ])
        ])
      let printed = Locked<[String]>([])
      @Sendable func print(_ parts: Any...) {
        printed.withLock { $0.append(parts.map { "\($0)" }.joined(separator: " ")) }
      }
      let isCancelled = Locked(false)
      // listing
      let plan = try store.migrationPlan()
      for step in plan.steps {
        print(step.text, step.mode, step.records, step.seconds, step.bytes)
      }
      var run = MigrationOptions()
      run.allowsDestructive = true
      run.progress = { progress in
        print(progress.text, progress.stage, progress.done, progress.total)
      }
      run.isCancelled = { isCancelled.withLock { $0 } }
      let report = try store.migrate(run)
      print(report.migrations.map(\.name), report.backup ?? "no copy", report.longestWait)
      // end
      #expect(plan.isDestructive && report.migrations.map(\.name) == ["0002_less"])
      let backup = try #require(report.backup)
      #expect(FileManager.default.fileExists(atPath: backup + "/data.mdb"))
      #expect(printed.withLock { $0.last?.contains("0002_less") ?? false })
      try requireClean(store)
    }
  }

  private static let walks = """
    line: walks
    summary: Walks
    steps:
      - createEntity:
          name: Walk
          attributes:
            - { name: meters, type: double }
            - { name: minutes, type: double }
    """

  private static let pace = """
    line: walks
    summary: How fast
    steps:
      - addAttribute: { to: Walk, name: pace, type: double, default: 0 }
      - runCode: { on: Walk, name: pace, revision: 1, changes: [pace] }
    """

  private static let less = """
    line: walks
    summary: Without the time
    steps:
      - dropAttribute: { on: Walk, name: minutes, destructive: true }
    """
}
