import ArgumentParser
import Console
import DurableJobs

struct JobsWatch: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "watch",
    abstract: "Follows a job until it ends.",
    discussion: """
      mooring jobs watch 42

      Ends with 0 if the job has succeeded, and with 65 if it has not. Ctrl-C ends the watch, with \
      130, but not the job. jsonl has each change, table and json only the end.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The job's number.", completion: .job) var job: JobID
  @Option(help: "table, json or jsonl.") var format = OutputFormat.table

  func validate() throws { try format.require(.table, .json, .jsonl) }

  func run() async throws {
    let queue = try options.jobsToRead()
    guard let status = try queue.status(job) else {
      throw CommandError(.unavailable, "there is no job \(job); see `mooring jobs list`")
    }
    if !status.state.isFinished { try options.warnIfNobodyRuns(status.kind, in: queue) }
    try await JobEnding.watch(job, in: queue, options, format)
  }
}
