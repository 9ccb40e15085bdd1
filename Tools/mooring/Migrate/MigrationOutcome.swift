import Console
import EntityStore
import Foundation
import Migrations

/// What a run of migrations has come to.
struct MigrationOutcome: Sendable {
  /// The store was made by this run.
  let isNew: Bool
  /// What the history has that it had not, or the other way around, in order.
  let changed: [AppliedMigration]
  let report: MigrationReport
  /// What `contract` would free now.
  let contractable: ContractReport

  /// Runs migrations, and says what was done even if not all of it could be.
  ///
  /// - Parameter output: How it is said.
  /// - Throws: What the run throws.
  static func of(
    _ store: Store, _ output: MigrationOutput, run: () throws -> MigrationReport
  ) throws -> MigrationOutcome {
    let before = try store.migrationHistory()
    do {
      let report = try run()
      // While this run waited for its turn, another one may have changed the history, too.
      let changed = try output.direction.changes(of: store, since: before).filter { entry in
        report.migrations.contains { $0.line == entry.line && $0.version == entry.version }
      }
      return MigrationOutcome(
        isNew: before.isEmpty && !changed.isEmpty, changed: changed,
        report: report, contractable: try store.contractable())
    } catch {
      // What is done stays done, and is to be known beside the reason why the rest is not.
      output.say(try output.direction.changes(of: store, since: before))
      throw error
    }
  }
}

enum MigrationDirection {
  case up, down

  /// What was applied to a store or taken back, in order.
  func changes(of store: Store, since before: [AppliedMigration]) throws -> [AppliedMigration] {
    let after = try store.migrationHistory()
    switch self {
    case .up: return after.filter { !before.contains($0) }
    case .down: return before.filter { !after.contains($0) }.reversed()
    }
  }

  var participle: String { self == .up ? "applied" : "took back" }
}

/// Says what a run of migrations has come to: to people on standard error, to programs as one object of
/// JSON on standard output.
struct MigrationOutput: Sendable {
  let direction: MigrationDirection
  let folder: String
  let isQuiet: Bool
  let isJSON: Bool
  let reporter: StageReporter
  private let startedAt = ContinuousClock.now

  init(_ direction: MigrationDirection, _ options: StoreOptions, _ format: OutputFormat) {
    self.direction = direction
    folder = options.folder
    isQuiet = options.quiet
    isJSON = format == .json
    reporter = StageReporter(isQuiet: isQuiet, isJSON: isJSON)
  }

  private struct Document: Encodable {
    struct Migration: Encodable {
      let line: String
      let migration: String
      let version: Int
    }

    let store: String
    let isNew: Bool
    let migrations: [Migration]
    let seconds: Double
    let longestWaitSeconds: Double
    let backup: String?
    let contractable: ContractReport
  }

  func write(_ outcome: MigrationOutcome) throws {
    let time = ContinuousClock.now - startedAt
    if isJSON { return try writeJSON(outcome, time) }
    if isQuiet { return }
    if outcome.isNew { Message.say("made the store \(folder)") }
    if outcome.changed.isEmpty {
      return Message.say(direction == .up ? "nothing is pending" : "nothing is to be taken back")
    }
    say(outcome.changed)
    if outcome.isNew { return }
    var text = "done in \(Formatting.duration(time))"
    if outcome.report.longestWait > .zero {
      text +=
        "; other writers had to wait \(Formatting.duration(outcome.report.longestWait)) at most"
    }
    Message.say(text)
    if let backup = outcome.report.backup {
      Message.say("the store as it was before is kept in \(backup)")
    }
    if !outcome.contractable.isEmpty {
      Message.say("when all is well, free what it left behind: `mooring migrate contract`")
    }
  }

  /// Of a run that may not be complete.
  func say(_ changed: [AppliedMigration]) {
    if isQuiet || isJSON { return }
    reporter.finish()
    for migration in changed {
      Message.say("\(direction.participle) \(migration.line) \(migration.name)")
    }
  }

  private func writeJSON(_ outcome: MigrationOutcome, _ time: Duration) throws {
    let document = Document(
      store: folder, isNew: outcome.isNew,
      migrations: outcome.changed.map {
        .init(line: $0.line, migration: $0.name, version: $0.version)
      }, seconds: time / .seconds(1),
      longestWaitSeconds: outcome.report.longestWait / .seconds(1), backup: outcome.report.backup,
      contractable: outcome.contractable)
    try StandardOutput.with { try $0.write(try JSONText.of(document) + "\n") }
  }
}
