import ArgumentParser
import Console
import DurableJobs
import EntityModel

struct JobsRunners: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "runners",
    abstract: "Lists the runners: the workers and programs that run jobs of this store.",
    discussion: """
      mooring jobs runners --format json
      """)

  @OptionGroup var options: StoreOptions
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.table

  func run() async throws {
    let runners = try options.jobsToRead().runners()
    try StandardOutput.with { output in
      if format == .json { return try output.write(try JSONText.of(runners) + "\n") }
      if format == .jsonl {
        for runner in runners { try output.write(try JSONText.of(runner) + "\n") }
        return
      }
      var rows = RowWriter(
        titles: ["runner", "state", "command", "process", "host", "startedAt", "kinds"],
        format: format)
      for runner in runners {
        try rows.write(
          [
            .int64(runner.epoch), .string(Self.state(runner)), .string(runner.command),
            .int64(runner.process), .string(runner.host), .string(runner.startedAt.text),
            .string(runner.kinds.joined(separator: " ")),
          ], &output)
      }
      try rows.end(&output)
    }
  }

  private static func state(_ runner: JobRunnerStatus) -> String {
    guard runner.isAlive else { return "dead" }
    return runner.stoppedAt == nil ? "works" : "stops"
  }
}
