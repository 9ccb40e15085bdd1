import ArgumentParser
import Console
import DurableJobs
import EntityStore

/// Lets a worker do what a command says.
struct DetachOptions: ParsableArguments {
  @Flag(help: "Only make a job of it, which a worker runs, and print the job's number.")
  var detach = false

  /// - Parameter options: What was asked for that a job cannot have.
  /// - Throws: `ValidationError` that names the first.
  func refuse(_ options: [String: Bool]) throws {
    guard detach, let option = options.filter(\.value).keys.sorted().first else { return }
    throw ValidationError("\(option) does not go with --detach; leave one out")
  }

  /// Makes the job, and says how to follow it.
  func enqueue(
    _ job: some Job, in store: Store, _ options: StoreOptions, _ format: OutputFormat
  ) async throws {
    let queue = JobQueue(store)
    let enqueued = try await queue.enqueue(JobRequest(job))
    try JobEnqueued(enqueued).write(format)
    try report(enqueued, kind: type(of: job).kind.rawValue, in: queue, options)
  }

  func report(
    _ job: EnqueuedJob, kind: String, in queue: JobQueue, _ options: StoreOptions
  ) throws {
    if options.quiet { return }
    if !job.isNew { Message.say("job \(job.id) does the same already; no other one was made") }
    Message.say("follow it with `mooring jobs watch \(job.id)`")
    try options.warnIfNobodyRuns(kind, in: queue)
  }
}
