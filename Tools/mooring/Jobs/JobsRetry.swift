import ArgumentParser
import Console
import DurableJobs

struct JobsRetry: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Lets jobs that wait for their time, or that have failed, run now.",
    discussion: "A job that had ended has all its attempts again.")

  @OptionGroup var options: StoreOptions
  @Argument(help: "The jobs' numbers.") var jobs: [JobID]
  @Option(help: "table, json, jsonl or csv.") var format = OutputFormat.table

  func run() async throws {
    let queue = try options.jobsToWrite()
    try await JobOutcomes(jobs: jobs, format: format).run { try await queue.retry($0) }
  }
}
