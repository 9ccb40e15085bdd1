import ArgumentParser
import Console
import DurableJobs
import Foundation

struct JobsPrune: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "prune",
    abstract: "Removes the jobs that have been kept for as long as they are to be.",
    discussion: "A worker does so by itself. Ctrl-C keeps what was removed until then.")

  @OptionGroup var options: StoreOptions
  @Option(help: "table, json, jsonl or csv.") var format = OutputFormat.table

  func run() async throws {
    let queue = try options.jobsToWrite()
    let start = ContinuousClock.now
    let line = ProgressLine.standardError(
      isQuiet: options.quiet, environment: ProcessInfo.processInfo.environment,
      now: { ContinuousClock.now - start })
    let count: Int
    do {
      defer { line.finish() }
      count = try await untilInterrupt {
        try await queue.prune { line.update("removed jobs", done: Int64($0)) }
      }
    } catch is CancellationError {
      Message.say("interrupted; what was removed is gone")
      throw ExitStatus.interrupted.exitCode
    }
    try StandardOutput.with { output in
      switch format {
      case .table: try output.write("removed \(Formatting.count(Int64(count))) jobs\n")
      case .json, .jsonl: try output.write(try JSONText.of(["removed": count]) + "\n")
      case .csv:
        try output.writeCSV(["removed"])
        try output.writeCSV([String(count)])
      }
    }
  }
}
