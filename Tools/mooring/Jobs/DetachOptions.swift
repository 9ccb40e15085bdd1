import ArgumentParser
import Console
import DurableJobs
import EntityStore

/// The option to enqueue a command as a job.
struct DetachOptions: ParsableArguments {
  @Flag(help: "Enqueue it as a job for a worker, and print the job's number.")
  var detach = false

  /// Refuses options that a job does not support.
  ///
  /// - Parameter options: The names of these options; true for those that were given.
  /// - Throws: `ValidationError` that names the first.
  func refuse(_ options: [String: Bool]) throws {
    guard detach, let option = options.filter(\.value).keys.sorted().first else { return }
    throw ValidationError("\(option) does not go with --detach; leave one out")
  }

  /// Enqueues the job, and prints how to follow it.
  func enqueue(
    _ job: some Job, in store: Store, _ options: StoreOptions, _ format: OutputFormat
  ) async throws {
    let queue = JobQueue(store)
    let enqueued = try await queue.enqueue(JobRequest(job))
    try JobEnqueued(enqueued).write(format)
    if options.quiet { return }
    if !enqueued.isNew {
      Message.say("job \(enqueued.id) does the same already; no other one was made")
    }
    Message.say("follow it with `mooring jobs watch \(enqueued.id)`")
    try options.warnIfNobodyRuns(type(of: job).kind.rawValue, in: queue)
  }
}
