import ArgumentParser
import Console
import EntityStore
import Migrations

extension Migrate {
  struct Down: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "down",
      abstract: "Reverts the last migration of a line, or all after a version.",
      discussion: """
        mooring migrate down local --to 1 --migrations migrations

        Runs the steps under `down` of its file; a file without them cannot be reverted. Ctrl-C \
        and --format json are as for `up`.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var run: MigrationRunOptions
    @Argument(help: "The line, such as local.") var line: String
    @Option(
      help: ArgumentHelp(
        "The last version that stays; 0 reverts the whole line. Default: all but the last.",
        valueName: "n"))
    var to: Int?

    func validate() throws {
      if let to, to < 0 {
        throw ValidationError("--to takes a version; 0 reverts the whole line")
      }
    }

    func run() async throws {
      let output = MigrationOutput(.down, options, run.format)
      let store = try options.open()
      let (line, to) = (line, to)
      let outcome = try await output.progress.migrate(
        run.migrationOptions(), continuedBy: command
      ) { migration in
        let history = try store.migrationHistory()
        let reached = history.count { $0.line == line }
        guard reached > 0 else {
          throw CommandError.unknownLine(line, known: Set(history.map(\.line)).sorted())
        }
        return try MigrationOutcome.of(store, output) {
          try store.migrateDown(line, to: to ?? reached - 1, migration)
        }
      }
      try output.write(outcome)
    }

    private var command: String {
      "mooring migrate down \(line)" + (to.map { " --to \($0)" } ?? "")
    }
  }
}
