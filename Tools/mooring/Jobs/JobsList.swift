import ArgumentParser
import Console
import DurableJobs

struct JobsList: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "Lists jobs: the newest, or those of a state in the order of the queue.",
    discussion: """
      mooring jobs list --state ready --state running
      mooring jobs list --kind feed.sync --limit 10

      The states are scheduled, ready, held (by a limit), blocked (by a batch), running, \
      succeeded, discarded (failed for good), cancelled and poisoned (its runners died with it). \
      Without options the newest jobs come first, whatever their state.
      """)

  @OptionGroup var options: StoreOptions
  @Option(
    help: "Only of this state; may be repeated.", completion: .jobState,
    transform: JobArguments.state)
  var state: [JobState] = []
  @Option(help: "Only of this kind; may be repeated.", completion: .jobKind) var kind: [String] = []
  @Option(help: "Only of this queue; may be repeated.", completion: .queue) var queue: [String] = []
  @Option(help: ArgumentHelp("Only of this job group.", valueName: "number")) var batch: Int64?
  @Option(parsing: .unconditional, help: "At most so many.") var limit = 50
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.table

  func validate() throws {
    if limit < 0 { throw ValidationError("--limit cannot be negative") }
  }

  func run() async throws {
    var filter = JobFilter()
    filter.states = Set(state)
    filter.kinds = Set(kind.map { JobKind(rawValue: $0) })
    filter.queues = Set(queue.map { QueueName(rawValue: $0) })
    filter.group = batch.map { JobGroupID(rawValue: $0) }
    filter.limit = limit
    let jobs = try options.jobsToRead().list(filter)
    try StandardOutput.with { output in
      try output.write(
        jobs, as: format, table: Self.table(jobs), titles: Self.titles, fields: Self.fields)
    }
  }

  private static func table(_ jobs: [JobStatus]) -> TextTable {
    var table = TextTable([
      .init("job", .number), .init("queue"), .init("kind"), .init("state"), .init("when"),
      .init("attempts", .number), .init("progress"), .init("error"),
    ])
    let text = JobText()
    for job in jobs {
      table.append([
        job.id.description, job.queue, job.kind, JobText.state(job), text.when(job),
        "\(job.attempts)/\(job.attemptsMax)", JobText.progress(job.progress), job.error ?? "",
      ])
    }
    return table
  }

  private static let titles = [
    "job", "queue", "kind", "state", "priority", "enqueuedAt", "runAt", "startedAt", "finishedAt",
    "attempts", "attemptsMax", "done", "total", "error",
  ]

  private static func fields(of job: JobStatus) -> [String?] {
    [
      job.id.description, job.queue, job.kind, job.state.rawValue, String(job.priority),
      job.enqueuedAt.text, job.runAt.text, job.startedAt?.text, job.finishedAt?.text,
      String(job.attempts), String(job.attemptsMax), job.progress.done.map { String($0) },
      job.progress.total.map { String($0) }, job.error,
    ]
  }
}
