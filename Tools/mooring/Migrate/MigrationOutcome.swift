import Console
import EntityModel
import EntityStore
import Foundation
import Migrations

/// The result of a run of migrations.
struct MigrationOutcome: Sendable {
  /// True if this run created the store.
  let isNew: Bool
  /// The entries that the run added to the history, or removed from it, in order.
  let changed: [AppliedMigration]
  /// The attributes that the run found with another type and left as they are, one line for each.
  let left: [String]
  let report: MigrationReport
  /// The space that `contract` would free now.
  let contractable: ContractReport

  /// Runs migrations, and prints the completed ones even if a later one fails.
  ///
  /// - Parameter output: The output for them.
  /// - Throws: The error of the run.
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
        left: output.direction == .up ? try store.attributesLeft(by: changed) : [],
        report: report, contractable: try store.contractable())
    } catch {
      // What is done stays done, and is to be known beside the reason why the rest is not.
      output.say(try output.direction.changes(of: store, since: before))
      throw error
    }
  }
}

extension Store {
  /// Returns a line for each attribute that a step with `ifMissing` would have added with another
  /// type than it has.
  fileprivate func attributesLeft(by applied: [AppliedMigration]) throws -> [String] {
    let (lines, schema) = try (migrationLines, schema)
    return applied.flatMap { entry -> [String] in
      let line = lines.first { $0.name == entry.line }
      let file = line?.migrations.first { $0.version == entry.version }
      return (file?.steps ?? []).compactMap { step in
        guard case .addAttribute(let entity, let added, ifMissing: true) = step,
          let found = schema.entity(named: entity)?.attribute(named: added.name),
          found.type.name != added.type.name
        else { return nil }
        return "\(entity).\(added.name) exists as \(found.type.name), not \(added.type.name); "
          + "it is left as it is"
      }
    }
  }
}

enum MigrationDirection {
  case up, down

  /// Returns the migrations that were applied to a store or reverted, in order.
  func changes(of store: Store, since before: [AppliedMigration]) throws -> [AppliedMigration] {
    let after = try store.migrationHistory()
    switch self {
    case .up: return after.filter { !before.contains($0) }
    case .down: return before.filter { !after.contains($0) }.reversed()
    }
  }

  var participle: String { self == .up ? "applied" : "reverted" }
}

/// Says what a run of migrations has come to: to people on standard error, to programs as one
/// object of JSON on standard output.
struct MigrationOutput: Sendable {
  let direction: MigrationDirection
  let folder: String
  let isQuiet: Bool
  let isJSON: Bool
  let progress: LongCommand
  private let startedAt = ContinuousClock.now

  init(_ direction: MigrationDirection, _ options: StoreOptions, _ format: OutputFormat) {
    self.direction = direction
    folder = options.folder
    isQuiet = options.quiet
    isJSON = format == .json
    progress = LongCommand(isQuiet: isQuiet, isJSON: isJSON)
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
    if outcome.isNew { Message.say("created the store \(folder)") }
    if outcome.changed.isEmpty {
      return Message.say(direction == .up ? "nothing is pending" : "nothing to revert")
    }
    say(outcome.changed)
    for line in outcome.left { Message.say(line) }
    if outcome.isNew { return }
    var text = "done in \(Formatting.duration(time))"
    if outcome.report.longestWait > .zero {
      text +=
        "; other writers had to wait \(Formatting.duration(outcome.report.longestWait)) at most"
    }
    Message.say(text)
    if let backup = outcome.report.backup {
      Message.say("a copy of the store from before is in \(backup)")
    }
    if !outcome.contractable.isEmpty {
      Message.say("when the result is verified, free the old data: `mooring migrate contract`")
    }
  }

  /// Prints the migrations of a run that may be incomplete.
  func say(_ changed: [AppliedMigration]) {
    if isQuiet || isJSON { return }
    progress.finish()
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
