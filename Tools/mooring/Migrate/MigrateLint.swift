import ArgumentParser
import Console
import EntityStore
import Migrations

extension Migrate {
  struct Lint: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
      commandName: "lint",
      abstract: "Checks migration files for problems before they run.",
      discussion: """
        mooring migrate lint migrations

        Without a folder it checks the files that the other commands would use. If there is a \
        store, they are compared with its applied migrations. Ends with 78 if there are errors; \
        warnings are only printed. MigrationFileReference.md, which a package has in \
        /usr/share/doc/mooring, explains each rule.
        """)

    @OptionGroup var options: StoreOptions
    @Argument(
      help: ArgumentHelp("Folders of files, instead of --migrations.", valueName: "dir"),
      completion: .directory)
    var folders: [String] = []
    @Option(help: "table, json or jsonl.") var format = OutputFormat.table

    func validate() throws { try format.require(.table, .json, .jsonl) }

    func run() async throws {
      let findings = try MigrationLint.findings(in: sources, against: try store(), codes: [])
      try StandardOutput.with { output in
        switch format {
        case .json: try output.write(try JSONText.of(findings) + "\n")
        case .jsonl: for finding in findings { try output.write(try JSONText.of(finding) + "\n") }
        case .table, .csv, .exactCSV:
          for finding in findings { try output.write("\(finding)".singleLine + "\n") }
        }
      }
      if findings.contains(where: { $0.severity == .error }) {
        throw ExitStatus.configuration.exitCode
      }
      if findings.isEmpty, !options.quiet { Message.say("nothing is wrong with these files") }
    }

    private var sources: [MigrationSource] {
      folders.isEmpty ? options.allSources : options.sources(withFolders: folders)
    }

    /// Returns the store that the files are checked against, or nil if there is none.
    private func store() throws -> Store? {
      do {
        return try options.openToRead()
      } catch let error as StoreError where error.code == .storeMissing {
        return nil
      }
    }
  }
}
