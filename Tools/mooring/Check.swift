import ArgumentParser
import Console
import EntityStore

struct Check: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    abstract:
      "Checks the file's pages, the catalog, records against indexes and back, the history.",
    discussion: """
      Changes nothing; other processes may read and write meanwhile. Ends with 65 if it finds \
      damage, and looks no further than the first level that has some. The transactions counted \
      are those that the history keeps.
      """)

  @OptionGroup var options: StoreOptions
  @Option(help: "table or json.") var format = OutputFormat.table

  func validate() throws { try format.require(.table, .json) }

  func run() async throws {
    let report = try Store.check(at: options.folder, options: try options.storeOptions())
    try StandardOutput.with { output in
      if format == .json {
        try output.write(try JSONText.of(report) + "\n")
      } else {
        try report.write(to: &output)
      }
    }
    if report.isClean { return }
    Message.say("the store is damaged; restore a backup, or save what mooring-dump still reads")
    throw ExitStatus.badData.exitCode
  }
}

extension StoreReport {
  /// Prints it for people.
  func write(to output: inout StandardOutput) throws {
    let count = problemCount + (integrity?.problemCount ?? 0)
    var table = TextTable([
      .init("pages", .number), .init("entities", .number), .init("records", .number),
      .init("index entries", .number), .init("transactions", .number), .init("problems", .number),
    ])
    table.append(
      [
        pages.total, integrity?.entities, integrity?.records, integrity?.entries,
        integrity?.historyTransactions, count,
      ].map { $0.map { Formatting.count(Int64($0)) } ?? "-" })
    try output.write(table)
    let problems = problems + (integrity?.problems.map(\.description) ?? [])
    for problem in problems { try output.write(problem.singleLine + "\n") }
    if count > problems.count {
      try output.write("and \(Formatting.count(Int64(count - problems.count))) more\n")
    }
  }
}
