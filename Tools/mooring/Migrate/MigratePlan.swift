import ArgumentParser
import Console
import EntityStore
import Migrations
import TextFormats

extension Migrate {
  struct Plan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "plan",
      abstract: "Prints what `up` would do. Changes nothing and creates no store.",
      discussion: """
        mooring migrate plan
        mooring migrate plan --migrations migrations --to local@2

        Times and sizes are estimates. A step runs in one of three modes: `catalog only` takes no \
        time, however many records there are; `one transaction` blocks other writers for its \
        duration; `online` lets others write at any time. Readers never wait.
        """)

    @OptionGroup var options: StoreOptions
    @Option(
      help: ArgumentHelp(
        "How far a line would go, such as local@2; may be repeated.", valueName: "line@n"))
    var to: [LineVersion] = []
    @OptionGroup var legacy: LegacyFileOptions
    @Flag(help: "As `up --no-backup` would do it.") var noBackup = false
    @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

    func validate() throws { try format.require(.table, .json) }

    func run() async throws {
      var migration = MigrationOptions()
      migration.backsUp = !noBackup
      let lines = try options.migrationLines()
      migration.targets = try MigrationTargets.read(to, lines)
      _ = try legacy.importer(for: lines)
      let plan = try plan(migration)
      let pending = lines.flatMap(\.migrations).filter { migration in
        plan.steps.contains { $0.line == migration.line && $0.migration == migration.name }
      }
      let text = PlanText(plan: plan, to: to, legacy: legacy, pending: pending)
      try format.write(text.document) { try text.write(&$0) }
    }

    private func plan(_ migration: MigrationOptions) throws -> MigrationPlan {
      do {
        let store = try options.openToRead(options.allSources)
        try MigrationTargets.check(migration.targets, reached: try store.migrationHistory())
        try store.migrationState().pending.requireSteps()
        return try store.migrationPlan(migration)
      } catch let error as StoreError where error.code == .storeMissing {
        try options.migrationLines().flatMap(\.migrations).requireSteps()
        return try .ofNewStore(options.allSources, migration)
      }
    }
  }
}

/// A plan as it is printed.
struct PlanText {
  let plan: MigrationPlan
  let to: [LineVersion]
  let legacy: LegacyFileOptions
  /// Those of the plan.
  let pending: [Migration]

  /// The plan, and its sums.
  struct Document: Encodable {
    let steps: [MigrationPlan.Step]
    let seconds: Double
    let bytes: Int
    let backupBytes: Int
    let freeBytes: Int?
    let mapBytes: Int
    let isDestructive: Bool
  }

  var document: Document {
    Document(
      steps: plan.steps, seconds: plan.seconds, bytes: plan.bytes, backupBytes: plan.backupBytes,
      freeBytes: plan.freeBytes, mapBytes: plan.mapBytes, isDestructive: plan.isDestructive)
  }

  func write(_ output: inout StandardOutput) throws {
    if plan.steps.isEmpty { return try output.write("nothing is pending\n") }
    try output.write(table)
    try output.write("\n")
    for line in notes { try output.write(line.singleLine + "\n") }
  }

  private var table: TextTable {
    var columns: [TextTable.Column] = [
      .init("migration"), .init("step"), .init("how"), .init("records", .number),
      .init("time", .number), .init("room", .number),
    ]
    if plan.isDestructive { columns.append(.init("loses")) }
    var table = TextTable(columns)
    for step in plan.steps {
      var cells = [
        "\(step.line) \(step.migration)", step.text,
        Self.name(of: step.mode) + (step.isUnderWay ? ", begun" : ""),
        step.records == 0 ? "" : Formatting.count(Int64(step.records)),
        step.mode == .catalog ? "" : Self.duration(step.seconds),
        step.bytes == 0 ? "" : Formatting.bytes(Int64(step.bytes)),
      ]
      if plan.isDestructive { cells.append(step.loss ?? "") }
      table.append(cells)
    }
    return table
  }

  private var notes: [String] {
    var lines = ["takes " + (plan.seconds < 1 ? "" : "about ") + Self.duration(plan.seconds)]
    if plan.backupBytes > 0 {
      let size = Formatting.bytes(Int64(plan.backupBytes))
      lines.append("the store is copied first, as something is lost: \(size)")
    }
    if plan.bytes > 0 {
      var room = "needs \(Formatting.bytes(Int64(plan.bytes))) at most"
      if let free = plan.freeBytes { room += "; there are \(Formatting.bytes(Int64(free)))" }
      lines.append(room)
    }
    if let free = plan.freeBytes, free < plan.bytes {
      lines.append("that is too little: free some, or move the store to a larger volume")
    } else if plan.bytes - plan.backupBytes > plan.mapBytes, plan.freeBytes != nil {
      lines.append("the map of the store is too small for that: add a larger --map-size")
    } else {
      lines.append("to do it, type `\(command)`")
    }
    return lines
  }

  private var command: String {
    let missing = legacy.missing(in: pending).map { " --legacy \($0)=FILE" }.joined()
    return "mooring migrate up" + to.map { " --to \($0.line)@\($0.version)" }.joined()
      + legacy.words.map { " " + $0.shellWord }.joined() + missing
      + (plan.isDestructive ? " --allow-destructive" : "")
  }

  private static func name(of mode: MigrationPlan.Mode) -> String {
    switch mode {
    case .catalog: "catalog only"
    case .transaction: "one transaction"
    case .online: "online"
    }
  }

  /// An estimate has no more digits than it deserves.
  private static func duration(_ seconds: Double) -> String {
    seconds < 1 ? "< 1 s" : Formatting.duration(.seconds(seconds.rounded()))
  }
}
