import ArgumentParser
import Console
import DurableJobs
import Foundation

struct JobsStats: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Counts jobs by state, with recent rates, waits and run times.",
    discussion: """
      mooring jobs stats --over 24h

      One line for each kind of jobs in each queue. An attempt that is retried counts as retried; \
      a job that ended without success counts as failed. p50 and p99 are percentiles of the wait \
      and the run time, exact within a fifth. jsonl and csv have only these lines.
      """)

  @OptionGroup var options: StoreOptions
  @Option(help: ArgumentHelp("The period, at most 7d.", valueName: "time"))
  var over = "1h"
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.table

  private func window() throws -> Duration {
    let window = try JobArguments.duration(over, "--over")
    guard window > .zero, window <= .seconds(7 * 86_400) else {
      throw ValidationError("--over: statistics are kept for a week; write 1m to 7d")
    }
    return window
  }

  func validate() throws { _ = try window() }

  func run() async throws {
    let statistics = try options.jobsToRead().statistics(over: try window())
    try StandardOutput.with { output in
      switch format {
      case .table: try StatisticsText(statistics).write(to: &output)
      case .json: try output.write(try JSONText.of(statistics) + "\n")
      case .jsonl:
        for lane in statistics.lanes { try output.write(try JSONText.of(lane) + "\n") }
      case .csv, .exactCSV:
        try output.writeCSV(StatisticsText.titles, as: format)
        for lane in statistics.lanes {
          try output.writeCSV(StatisticsText.fields(of: lane), as: format)
        }
      }
    }
  }
}
