import ArgumentParser
import Console
import DurableJobs

struct JobsPrune: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Removes finished jobs whose retention has passed.",
    discussion: """
      mooring jobs prune --quiet

      A worker does so by itself. Ctrl-C keeps what was removed until then.
      """)

  @OptionGroup var options: StoreOptions
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.table

  func run() async throws {
    let queue = try options.jobsToWrite()
    let command = LongCommand(isQuiet: options.quiet)
    let count = try await command.run(afterInterrupt: "the jobs removed so far stay removed") {
      try await queue.prune { command.report("removed jobs", done: Int64($0)) }
    }
    try StandardOutput.with { output in
      switch format {
      case .table: try output.write("removed \(Formatting.count(Int64(count))) jobs\n")
      case .json, .jsonl: try output.write(try JSONText.of(["removed": count]) + "\n")
      case .csv, .exactCSV:
        try output.writeCSV(["removed"], as: format)
        try output.writeCSV([String(count)], as: format)
      }
    }
  }
}
