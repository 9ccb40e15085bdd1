import ArgumentParser
import Console
import DurableJobs
import Foundation

struct JobsStats: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "stats",
    abstract: "Counts jobs by state, with recent rates, waits and run times.",
    discussion: """
      One line for each kind of jobs in each queue. An attempt that is tried again counts as \
      retried; a job that has ended otherwise than well counts as failed. Half of the jobs waited \
      and ran no longer than p50 says, and all but one in a hundred no longer than p99; both are \
      told within a fifth. As jsonl and csv only the lines come.
      """)

  @OptionGroup var options: StoreOptions
  @Option(help: ArgumentHelp("The time that is looked at, at most 7d.", valueName: "time"))
  var over = "1h"
  @Option(help: "table, json, jsonl or csv.") var format = OutputFormat.table

  private func window() throws -> Duration {
    let window = try JobArguments.duration(over, "--over")
    guard window > .zero, window <= .seconds(7 * 86_400) else {
      throw ValidationError("--over: figures are kept for a week; write 1m to 7d")
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
      case .csv:
        try output.writeCSV(StatisticsText.titles)
        for lane in statistics.lanes { try output.writeCSV(StatisticsText.fields(of: lane)) }
      }
    }
  }
}
