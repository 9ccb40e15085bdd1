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
        mooring import run Library.sqlite --mapping library.yaml

        Other processes can read and write during the run. Ctrl-C ends it after a chunk, with \
        status 130; the next run resumes there, also after a kill. A later run writes only the \
        changes in the file, and tries rejected rows again. Records whose rows are no longer in \
        the file stay, unless --prune is given.

        Ends with 65 if the counts do not balance, if more rows were rejected than the mapping \
        allows, or if --prune would delete most of the records; the written records stay.
        """)

    @OptionGroup var options: StoreOptions
    @OptionGroup var file: LegacyFileArgument
    @OptionGroup var mapping: MappingOptions
    @Flag(help: "Delete the records whose rows are no longer in the file.") var prune = false
    @Flag(help: "Delete them even if they are most of the records.") var allowDeletions = false
    @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

    func validate() throws {
      try format.require(.table, .json)
      if allowDeletions, !prune {
        throw ValidationError("--allow-deletions is for --prune; add it")
      }
      if prune, file.damaged {
        throw ValidationError(
          "--prune needs a file all of whose rows can be read; leave out --damaged or --prune")
      }
    }

    func run() async throws {
      let store = try options.open()
      let mappingText = try mapping.read()
      let command = options.commandLine(
        ["import", "run"] + file.words + ["--mapping", mapping.path]
          + (prune ? ["--prune"] : []) + (allowDeletions ? ["--allow-deletions"] : []))
      let progress = LongCommand(isQuiet: options.quiet, isJSON: format == .json)
      let afterInterrupt = "`\(command)` continues from here"
      let report = try await progress.read(
        file, prunes: prune, allowsDeletions: allowDeletions, afterInterrupt: afterInterrupt
      ) {
        try $0.run(mappingText, in: store)
      }
      try format.write(report) { output in
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
          "`\(rejects)` lists the rejected rows; correct the mapping and run again")
      }
      return lines
    }
  }
}
