import ArgumentParser
import Console
import DurableJobs
import Foundation

struct JobsEnqueue: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "enqueue",
    abstract: "Enqueues a job.",
    discussion: """
      mooring jobs enqueue feed.sync --payload '{"feed":1}' --watch

      A job of a kind that no worker knows waits until one does. With --unique no job is enqueued \
      while an unfinished one has the same kind and key; the number of that one is printed.
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The kind, such as feed.sync.", completion: .jobKind) var kind: String
  @OptionGroup(title: "Job") var request: JobRequestOptions
  @Option(help: ArgumentHelp("Not before so long from now: 90s, 10m, 2h.", valueName: "time"))
  var delay: String?
  @Option(help: ArgumentHelp("Not before: 2026-01-31T06:30:00Z.", valueName: "time"))
  var at: String?
  @Option(help: ArgumentHelp("Only once among unfinished jobs of the kind.", valueName: "key"))
  var unique: String?
  @Flag(help: "Follow the job until it ends; see `mooring jobs watch --help`.") var watch = false
  @Option(help: OutputFormat.allHelp) var format = OutputFormat.table

  func validate() throws {
    if delay != nil, at != nil { throw ValidationError("use --delay or --at, not both") }
    if watch { try format.require(.table, .json, .jsonl) }
    _ = try runAt()
  }

  private func runAt() throws -> Date? {
    if let delay {
      let duration = try JobArguments.duration(delay, "--delay")
      return Date().addingTimeInterval(Double(duration.components.seconds))
    }
    return try at.map { try JobArguments.date($0, "--at") }
  }

  func run() async throws {
    var request = try self.request.request(of: kind)
    request.runAt = try runAt()
    if let unique { request.uniqueKey = unique }
    let queue = try options.jobsToWrite()
    let job = try await queue.enqueue(request)
    if !job.isNew, !options.quiet {
      Message.say("job \(job.id) has this unique key already; no other one was made")
    }
    try options.warnIfNobodyRuns(kind, in: queue)
    if watch { return try await JobEnding.watch(job.id, in: queue, options, format) }
    try JobEnqueued(job).write(format)
  }
}
