import ArgumentParser
import Console
import EntityStore

struct Check: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract: "Checks the file's pages, then records against indexes and back.",
    discussion: "Changes nothing; other processes may read and write meanwhile.")

  @OptionGroup var options: StoreOptions
  @Option(help: "table or json.") var format = OutputFormat.table

  func run() async throws {
    let report = try options.open().checkIntegrity()
    try StandardOutput.with { output in
      if format == .json { return try output.write(try JSONText.of(report) + "\n") }
      var table = TextTable([
        .init("entities", .number), .init("records", .number), .init("index entries", .number),
        .init("problems", .number),
      ])
      table.append(
        [report.entities, report.records, report.entries, report.problemCount]
          .map { Formatting.count(Int64($0)) })
      try output.write(table)
      for problem in report.problems { try output.write("\(problem)\n") }
      if report.problemCount > report.problems.count {
        try output.write("and \(report.problemCount - report.problems.count) more\n")
      }
    }
    if !report.isClean { throw ExitStatus.badData.exitCode }
  }
}
