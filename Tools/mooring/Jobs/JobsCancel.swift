import ArgumentParser
import Console
import DurableJobs

struct JobsCancel: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "cancel",
    abstract: "Cancels jobs: waiting ones at once, running ones through their runner.",
    discussion: """
      mooring jobs cancel 42 --wait

      A running job is printed as running until its handler ends. --wait waits for that. A job \
      may also succeed before the cancellation reaches it.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The jobs' numbers.", completion: .job) var jobs: [JobID]
  @Flag(help: "Wait until the jobs that run have ended.") var wait = false
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.table

  func run() async throws {
    let queue = try options.jobsToWrite()
    let watcher = JobWatcher(queue: queue, options: options)
    try await JobOutcomes(jobs: jobs, format: format).run { job in
      let state = try await queue.cancel(job)
      guard wait, !state.isFinished else { return state }
      if let kind = try queue.status(job)?.kind { try options.warnIfNobodyRuns(kind, in: queue) }
      return try await watcher.watch(job).state
    }
  }
}

struct JobsRetry: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "retry",
    abstract: "Makes scheduled and failed jobs ready to run now.",
    discussion: """
      mooring jobs retry 42 43

      A job that had ended has all its attempts again.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The jobs' numbers.", completion: .job) var jobs: [JobID]
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.table

  func run() async throws {
    let queue = try options.jobsToWrite()
    try await JobOutcomes(jobs: jobs, format: format).run { try await queue.retry($0) }
  }
}
