import ArgumentParser
import Console
import EntityStore
import Maintenance
import Migrations

extension Migrate {
  struct Verify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "verify",
      abstract: "Compares the store with its migrations: files, history, schema, leftovers.",
      discussion: """
        mooring migrate verify --deep

        Changes nothing. Pending migrations are no problem here; `status --check` reports them. \
        Ends with 78 if there is a difference, and with 65 if --deep finds damage.
        """)

    @OptionGroup var options: StoreOptions
    @Flag(help: "Check pages, records and indexes as well, as `mooring check` does.") var deep =
      false
    @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

    private struct Document: Encodable {
      let problems: [MigrationProblem]
      let check: StoreReport?
    }

    func validate() throws { try format.require(.table, .json) }

    func run() async throws {
      let report =
        try deep ? Store.check(at: options.folder, options: options.storeOptions()) : nil
      // What is damaged cannot be held against anything.
      let isDamaged = report.map { !$0.isClean } ?? false
      let problems =
        try isDamaged ? [] : options.openToRead(options.allSources).verifyMigrations()
      try format.write(Document(problems: problems, check: report)) { output in
        try report?.write(to: &output)
        for problem in problems { try output.write("\(problem)".singleLine + "\n") }
      }
      if isDamaged {
        Message.say("the store is damaged; restore a backup, or save what mooring-dump still reads")
        throw ExitStatus.badData.exitCode
      }
      if !problems.isEmpty { throw ExitStatus.configuration.exitCode }
      if !options.quiet { Message.say("the store matches its migrations") }
    }
  }
}
