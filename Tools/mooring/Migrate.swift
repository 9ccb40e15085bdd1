import ArgumentParser
import Console
import EntityModel
import EntityStore
import Foundation

struct Migrate: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "The schema's versions: what was applied, what is pending, and applying it.",
    subcommands: [Status.self, Plan.self, Up.self])

  struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "What was applied and what is pending.")

    @OptionGroup var options: StoreOptions
    @Option(help: "table, json, jsonl or csv.") var format = OutputFormat.table

    private struct Row: Encodable {
      let line: String
      let migration: String
      let state: String
      let appliedAt: String?
    }

    func run() async throws {
      let store = try options.openToRead(options.allSources)
      let state = try store.migrationState()
      var rows = try store.migrationHistory().map { entry in
        Row(
          line: entry.line, migration: entry.name,
          state: name(of: entry, state),
          appliedAt: Value.date(Date(timeIntervalSince1970: entry.appliedAt.rounded())).text)
      }
      rows += (state.pending + state.unmet).map {
        Row(line: $0.line, migration: $0.name, state: "pending", appliedAt: nil)
      }
      try write(rows)
    }

    private func name(of entry: AppliedMigration, _ state: MigrationState) -> String {
      if state.unknown.contains(entry) { return "applied by a newer program" }
      let isChanged = state.changed.contains { $0.line == entry.line && $0.name == entry.name }
      return isChanged ? "applied; the file was changed since" : "applied"
    }

    private func write(_ rows: [Row]) throws {
      try StandardOutput.with { output in
        switch format {
        case .json: try output.write(try JSONText.of(rows) + "\n")
        case .jsonl: for row in rows { try output.write(try JSONText.of(row) + "\n") }
        case .csv:
          try output.writeCSV(["line", "migration", "state", "applied"])
          for row in rows {
            try output.writeCSV([row.line, row.migration, row.state, row.appliedAt])
          }
        case .table:
          var table = TextTable([
            .init("line"), .init("migration"), .init("state"), .init("applied"),
          ])
          for row in rows {
            table.append([row.line, row.migration, row.state, row.appliedAt ?? ""])
          }
          try output.write(table)
        }
      }
    }
  }

  struct Plan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "What `up` would do. Changes nothing, and makes no store.")

    @OptionGroup var options: StoreOptions
    @Option(help: "table or json.") var format = OutputFormat.table

    func validate() throws { try format.require(.table, .json) }

    func run() async throws {
      let plan = try plan()
      try StandardOutput.with { output in
        if format == .json { return try output.write(try JSONText.of(plan) + "\n") }
        if plan.steps.isEmpty { return try output.write("nothing is pending\n") }
        var table = TextTable([
          .init("migration"), .init("step"), .init("how"), .init("records", .number),
        ])
        for step in plan.steps {
          table.append([
            "\(step.line) \(step.migration)", step.text,
            step.mode == .catalog ? "catalog only" : "one transaction",
            step.records == 0 ? "" : Formatting.count(Int64(step.records)),
          ])
        }
        try output.write(table)
      }
    }

    private func plan() throws -> MigrationPlan {
      do {
        return try options.openToRead(options.allSources).migrationPlan()
      } catch let error as StoreError where error.code == .storeMissing {
        return try .ofNewStore(options.allSources)
      }
    }
  }

  struct Up: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      abstract: "Applies what is pending; makes the store if it is missing.",
      discussion: "All of it happens in one transaction: a kill leaves the old schema.")

    @OptionGroup var options: StoreOptions

    func run() async throws {
      let isNew = !FileManager.default.fileExists(atPath: options.folder + "/data.mdb")
      let store = try options.openOrCreate()
      let applied = try store.migrate()
      if options.quiet { return }
      if isNew {
        Message.say("made the store \(store.folder)")
        for entry in try store.migrationHistory() {
          Message.say("applied \(entry.line) \(entry.name)")
        }
      } else if applied.isEmpty {
        Message.say("nothing is pending")
      } else {
        for migration in applied { Message.say("applied \(migration.line) \(migration.name)") }
      }
    }
  }
}
