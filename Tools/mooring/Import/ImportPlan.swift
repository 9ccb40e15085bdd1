import ArgumentParser
import Console
import EntityStore
import LegacyImport

extension ImportCommand {
  struct Plan: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "plan",
      abstract: "Prints what a run would do with each row. Writes nothing to the store.",
      discussion: """
        mooring import plan Library.sqlite --mapping library.yaml

        Every row is read, converted and compared with the rules and with the store's records. \
        Ends with 65 if the counts do not balance, or if more rows would be rejected than the \
        mapping allows.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var file: LegacyFileArgument
    @OptionGroup var mapping: MappingOptions
    @Option(
      help: ArgumentHelp(
        "Write what would be rejected into this new file, one object of JSON on each line.",
        valueName: "out.jsonl"))
    var rejects: String?
    @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

    func validate() throws { try format.require(.table, .json) }

    func run() async throws {
      let store = try options.openToRead()
      let mappingText = try mapping.read()
      let progress = LongCommand(isQuiet: options.quiet, isJSON: format == .json)
      let afterInterrupt = "a plan changes nothing and starts from the beginning"
      let path = rejects
      let (report, examples) = try await progress.read(file, afterInterrupt: afterInterrupt) {
        legacy in
        var examples = RejectExamples()
        let report = try RejectFile.writing(to: path) { write in
          try legacy.plan(mappingText, in: store) { reject in
            examples.add(reject)
            try write(reject)
          }
        }
        return (report, examples)
      }
      let unconfirmed = try mappingText.unconfirmed(in: store)
      let text = ImportReportText(report: report, examples: examples)
      try format.write(report) { output in
        try text.write(&output)
        for line in notes(report, unconfirmed) { try output.write(line.singleLine + "\n") }
      }
      try report.requireSuccess()
    }

    private func notes(_ report: ImportReport, _ unconfirmed: [String]) -> [String] {
      var lines: [String] = []
      let folder = options.migrationFolders.isEmpty ? ["--migrations", "migrations"] : []
      let confirm = options.commandLine(["import", "confirm", "--mapping", mapping.path] + folder)
      if !unconfirmed.isEmpty {
        lines.append(
          "a run refuses these guesses; confirm or correct each with `\(confirm)`:"
        )
        lines += unconfirmed.map { "  " + $0 }
      }
      let run = options.commandLine(
        ["import", "run"] + file.words + ["--mapping", mapping.path])
      if report.isBalanced, report.isWithinLimit, unconfirmed.isEmpty {
        return lines + ["to do it, type `\(run)`"]
      }
      return lines + ["after that plan again; then type `\(run)`"]
    }
  }
}
