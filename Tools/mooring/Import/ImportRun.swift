import ArgumentParser
import Console
import EntityStore
import LegacyImport

extension ImportCommand {
  struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "run",
      abstract: "Imports the file and verifies every record in the store.",
      discussion: """
        Others read and write all the time. Ctrl-C ends it after a chunk, with status 130; the \
        next run goes on there, as it does after a kill. A later run writes only what has changed \
        in the file since, and takes what was rejected before. Records whose rows are gone from \
        the file stay.

        Ends with 65 if something does not add up, or if more was rejected than the mapping \
        allows; what was written stays.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var file: LegacyFileArgument
    @OptionGroup var mapping: MappingOptions
    @Option(help: "table or json.") var format = OutputFormat.table

    func validate() throws { try format.require(.table, .json) }

    func run() async throws {
      let store = try options.open()
      let mappingText = try mapping.read()
      let command = options.commandLine(
        ["import", "run"] + file.words + ["--mapping", mapping.path])
      let progress = LongCommand(isQuiet: options.quiet, isJSON: format == .json)
      let afterInterrupt = "`\(command)` continues from here"
      let report = try await progress.read(file, afterInterrupt: afterInterrupt) {
        try $0.run(mappingText, in: store)
      }
      try StandardOutput.with { output in
        if format == .json { return try output.write(try JSONText.of(report) + "\n") }
        let text = ImportReportText(
          report: report, examples: try RejectExamples(of: report.name, in: store))
        try text.write(&output)
        for line in notes(report) { try output.write(line.singleLine + "\n") }
      }
      try report.requireSuccess()
    }

    private func notes(_ report: ImportReport) -> [String] {
      let status = options.commandLine(["import", "status", report.name])
      var lines = ["to see this again, type `\(status)`"]
      if report.rejected > 0 {
        let rejects = options.commandLine(["import", "rejects", report.name])
        lines.append(
          "`\(rejects)` lists what was not taken over; correct the mapping and run again")
      }
      return lines
    }
  }
}
