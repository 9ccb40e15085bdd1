import ArgumentParser
import Console
import EntityModel
import EntityStore
import Foundation
import Migrations

extension Migrate {
  struct Status: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "status",
      abstract: "Shows the applied and pending migrations and the one in progress.",
      discussion: """
        mooring migrate status
        mooring migrate status --check

        --check is for scripts: it prints only what is wrong, and ends with 0 if the store is up \
        to date, 75 if another process is migrating it, and 78 otherwise.
        """)

    @OptionGroup var options: StoreOptions
    @Flag(help: "Print only what is wrong, and end with 78 if anything is.") var check = false
    @Option(help: "table, json, jsonl or csv; the last two have the migrations alone.")
    var format = OutputFormat.table

    func run() async throws {
      let store = try options.openToRead(options.allSources)
      let overview = try StatusOverview(of: store)
      if check { return try check(overview) }
      try StandardOutput.with { output in
        switch format {
        case .json: try output.write(try JSONText.of(overview) + "\n")
        case .jsonl:
          for row in overview.migrations { try output.write(try JSONText.of(row) + "\n") }
        case .csv, .exactCSV:
          try output.writeCSV(["line", "migration", "state", "applied", "by"], as: format)
          for row in overview.migrations {
            try output.writeCSV(
              [row.line, row.migration, row.state, row.appliedAt, row.program], as: format)
          }
        case .table:
          try output.write(overview.table)
          let notes = overview.notes
          if !notes.isEmpty { try output.write("\n") }
          for note in notes { try output.write(note.singleLine + "\n") }
        }
      }
    }

    private func check(_ overview: StatusOverview) throws {
      let problems = overview.problems
      if problems.isEmpty { return }
      try StandardOutput.with { output in
        switch format {
        case .json: try output.write(try JSONText.of(problems) + "\n")
        case .jsonl: for text in problems { try output.write(try JSONText.of(text) + "\n") }
        case .csv, .exactCSV: for text in problems { try output.writeCSV([text], as: format) }
        case .table: for text in problems { try output.write(text.singleLine + "\n") }
        }
      }
      throw (overview.isBeingMigrated ? ExitStatus.tryAgain : .configuration).exitCode
    }
  }
}

/// Where the migrations of a store stand.
struct StatusOverview: Encodable {
  struct Row: Encodable {
    let line: String
    let migration: String
    let version: Int
    let state: String
    let appliedAt: String?
    let program: String?
  }

  struct UnderWay: Encodable {
    let line: String
    let migration: String
    let isDown: Bool
    let step: Int
    let steps: Int?
    let text: String?
    let stage: String?
    let done: Int64
    let since: String
    let program: String?
    let backup: String?
    let lastError: String?
  }

  struct Backup: Encodable {
    let path: String
    let before: String
    let madeAt: String
  }

  let migrations: [Row]
  let underWay: UnderWay?
  /// The process that migrates the store at this moment.
  let holder: String?
  let backups: [Backup]
  /// The space that `contract` would free.
  let contractable: ContractReport
  /// The indexes that a load has set aside.
  let deferredIndexes: [DeferredIndex]
  let problems: [String]

  init(of store: Store) throws {
    let state = try store.migrationState()
    let underWay = try store.migrationUnderWay()
    let applied = try store.migrationHistory().map { entry in
      Row(
        line: entry.line, migration: entry.name, version: entry.version,
        state: Self.state(of: entry, state, underWay),
        appliedAt: Self.time(entry.appliedAt), program: entry.program)
    }
    let pending = (state.pending + state.unmet).map { migration in
      Row(
        line: migration.line, migration: migration.name, version: migration.version,
        state: Self.state(of: migration, state, underWay), appliedAt: nil, program: nil)
    }
    migrations = applied + pending
    self.underWay = underWay.map(Self.description)
    holder = Store.migrationHolder(at: store.folder)
    contractable = try store.contractable()
    let kept = contractable.backups
    backups = try store.migrationBackups().filter { kept.contains($0.path) }
      .map { Backup(path: $0.path, before: $0.before, madeAt: Self.time($0.madeAt)) }
    deferredIndexes = try store.deferredIndexes()
    problems =
      Self.problems(state, underWay, isAlive: holder != nil)
      + Self.problems(deferredIndexes, isAlive: holder != nil)
  }

  /// True if it is enough to wait.
  var isBeingMigrated: Bool { holder != nil }

  private static func description(_ underWay: MigrationUnderWay) -> UnderWay {
    let running = underWay.migration
    return UnderWay(
      line: running.line, migration: running.name, isDown: running.isDown, step: underWay.step,
      steps: underWay.steps, text: underWay.text, stage: underWay.stage?.rawValue,
      done: underWay.done, since: time(running.startedAt), program: running.program,
      backup: running.backup, lastError: running.lastError)
  }

  private static func time(_ seconds: Double) -> String {
    Value.date(Date(timeIntervalSince1970: seconds.rounded())).text
  }

  // MARK: States

  private static func state(
    of entry: AppliedMigration, _ state: MigrationState, _ underWay: MigrationUnderWay?
  ) -> String {
    if let running = underWay?.migration, running.isDown, running.line == entry.line,
      running.version == entry.version
    {
      // Programs read the states of the JSON output, so these words stay.
      return "being taken back"
    }
    if state.unknown.contains(entry) { return "applied by a newer program" }
    if state.displaced.contains(where: { $0.applied == entry }) {
      return "applied; its file has another number now"
    }
    if state.changed.contains(where: { $0.line == entry.line && $0.version == entry.version }) {
      return "applied; the file was changed since"
    }
    return entry.isBaseline == true ? "noted as applied" : "applied"
  }

  private static func state(
    of migration: Migration, _ state: MigrationState, _ underWay: MigrationUnderWay?
  ) -> String {
    if let running = underWay?.migration, !running.isDown, running.line == migration.line,
      running.version == migration.version
    {
      return "under way"
    }
    guard state.unmet.contains(where: { $0.line == migration.line && $0.name == migration.name })
    else { return "pending" }
    return "pending; requires " + list(migration.requires)
  }

  private static func list(_ requirements: [Migration.Requirement]) -> String {
    requirements.map { "\($0.line)@\($0.version)" }.joined(separator: ", ")
  }

  // MARK: What is wrong

  private static func problems(
    _ state: MigrationState, _ underWay: MigrationUnderWay?, isAlive: Bool
  ) -> [String] {
    var texts: [String] = []
    for entry in state.unknown {
      let program = entry.program.map { " (\($0))" } ?? ""
      texts.append(
        "\(entry.line) \(entry.name) was applied by a newer program\(program); install that one")
    }
    for (entry, file) in state.displaced {
      texts.append(
        "\(file.line) \(file.name) has the number of \(entry.name), which was applied; give it "
          + "the number after the last one of its line")
    }
    for file in state.changed {
      texts.append(
        "\(file.line) \(file.name) was changed after it was applied; restore it, and write the "
          + "change as a new migration")
    }
    for file in state.unmet {
      texts.append(
        "\(file.line) \(file.name) cannot be applied: it requires \(list(file.requires)); add the "
          + "line "
          + "with --migrations")
    }
    if let underWay {
      let running = underWay.migration
      let command = running.isDown ? "down \(running.line)" : "up"
      texts.append(
        "\(running.line) \(running.name) is in progress; "
          + (isAlive ? "wait for it" : "run `mooring migrate \(command)` to finish it"))
    }
    let pending = state.pending.filter {
      $0.line != underWay?.migration.line || $0.version != underWay?.migration.version
    }
    texts += pending.map { "\($0.line) \($0.name) is pending; run `mooring migrate plan`" }
    return texts
  }

  private static func problems(_ deferred: [DeferredIndex], isAlive: Bool) -> [String] {
    if deferred.isEmpty { return [] }
    let names = deferred.map { "\($0.entity).\($0.index)" }.joined(separator: ", ")
    return [
      "a load has set indexes aside: \(names); "
        + (isAlive ? "wait for it" : "run `mooring migrate up` to build them")
    ]
  }

  // MARK: For people

  var table: TextTable {
    var table = TextTable([
      .init("line"), .init("migration"), .init("state"), .init("applied"), .init("by"),
    ])
    for row in migrations {
      table.append([
        row.line, row.migration, row.state, row.appliedAt ?? "", row.program ?? "",
      ])
    }
    return table
  }

  var notes: [String] {
    var lines: [String] = []
    if let underWay { lines += Self.notes(underWay, isAlive: holder != nil) }
    if let holder { lines.append("migrating now: \(holder)") }
    for backup in backups {
      lines.append("copy of \(backup.madeAt), before \(backup.before): \(backup.path)")
    }
    if !contractable.isEmpty {
      let bytes = Formatting.bytes(Int64(contractable.bytes + contractable.backupBytes))
      lines.append("`mooring migrate contract` frees \(bytes)")
    }
    return lines
  }

  private static func notes(_ underWay: UnderWay, isAlive: Bool) -> [String] {
    let steps = underWay.steps.map { " of \($0)" } ?? ""
    var line = "\(underWay.isDown ? "being reverted" : "in progress"): "
    line += "\(underWay.line) \(underWay.migration), step \(underWay.step)\(steps)"
    if let text = underWay.text { line += ": \(text)" }
    if let stage = underWay.stage {
      line += ", \(stage) \(Formatting.count(underWay.done))"
    }
    var lines = [line, "begun \(underWay.since)" + (underWay.program.map { " by \($0)" } ?? "")]
    if let error = underWay.lastError { lines.append("the last attempt ended: \(error)") }
    if !isAlive {
      let command = underWay.isDown ? "down \(underWay.line)" : "up"
      let first = underWay.lastError == nil ? "no process runs it" : "correct that"
      lines.append("\(first); `mooring migrate \(command)` resumes it")
    }
    return lines
  }
}
