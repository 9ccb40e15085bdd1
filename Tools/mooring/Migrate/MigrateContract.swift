import ArgumentParser
import Console
import EntityStore
import Migrations

extension Migrate {
  struct Contract: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "contract",
      abstract: "Removes what migrations keep for a revert: old trees and copies of the store.",
      discussion: """
        mooring migrate contract --dry-run

        Run it when no migration has to be reverted any more. Later writes reuse the space in the \
        file; `mooring compact` returns it to the file system.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var lock: MigrationLockOptions
    @Flag(help: "Only print what would be freed.") var dryRun = false
    @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

    func validate() throws { try format.require(.table, .json) }

    func run() async throws {
      let report: ContractReport
      if dryRun {
        report = try options.openToRead().contractable()
      } else {
        let store = try options.open()
        let progress = LongCommand(isQuiet: options.quiet, isJSON: format == .json)
        report = try await progress.migrate(
          lock.migrationOptions(), continuedBy: "mooring migrate contract"
        ) { try store.contract($0) }
      }
      if format == .json {
        return try StandardOutput.with { try $0.write(try JSONText.of(report) + "\n") }
      }
      if options.quiet { return }
      printReport(report)
    }

    private func printReport(_ report: ContractReport) {
      let would = dryRun ? "would be " : ""
      if report.isEmpty { return Message.say("there is nothing to free") }
      if !report.trees.isEmpty {
        Message.say(
          "\(would)freed: \(Formatting.bytes(Int64(report.bytes))) of "
            + report.trees.joined(separator: ", "))
      }
      for path in report.backups { Message.say("\(would)removed: \(path)") }
    }
  }
}
