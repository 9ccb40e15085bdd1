import ArgumentParser
import Console
import DurableJobs
import Foundation

struct JobsShow: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "show", abstract: "Shows one job in full, with its failed attempts.",
    discussion: """
      mooring jobs show 42
      """)

  @OptionGroup var options: StoreOptions
  @Argument(help: "The job's number.", completion: .job) var job: JobID
  @Option(help: "table or json.", completion: .tableOrJSON) var format = OutputFormat.table

  func validate() throws { try format.require(.table, .json) }

  func run() async throws {
    guard let details = try options.jobsToRead().details(of: job) else {
      throw CommandError(
        .unavailable,
        "there is no job \(job); see `mooring jobs list`; jobs are removed at the end of their "
          + "retention")
    }
    try format.write(details) { output in
      let text = JobText()
      try output.write(Self.table(details, text))
      if details.attempts.isEmpty { return }
      try output.write("\n")
      try output.write(Self.attempts(details.attempts, text))
    }
  }

  private static func table(_ details: JobDetails, _ text: JobText) -> TextTable {
    let job = details.job
    var table = TextTable([.init("job"), .init(job.id.description)])
    let rows: [(String, String?)] = [
      ("kind", job.kind), ("queue", details.isQueuePaused ? "\(job.queue), paused" : job.queue),
      ("state", JobText.state(job)), ("waits for", details.reasonOfWait),
      ("priority", String(job.priority)), ("enqueued", text.time(job.enqueuedAt)),
      (job.state == .scheduled ? "runs" : "ready since", text.time(job.runAt)),
      ("started", text.time(job.startedAt)), ("ended", text.time(job.finishedAt)),
      ("removed", text.time(job.removedAfter)), ("took", took(job)),
      ("attempts", "\(job.attempts) of \(job.attemptsMax)"),
      ("rescues", job.rescues == 0 ? nil : "\(job.rescues) of \(job.rescuesMax)"),
      ("timeout", JobText.duration(seconds: job.timeout)),
      ("runner", details.runner.map(name) ?? job.epoch.map { "\($0), not registered" }),
      ("progress", JobText.progress(job.progress)), ("error", job.error),
      ("unique key", job.uniqueKey), ("limit", job.limitKey),
      ("batch", job.group.map { String($0) }), ("schedule", job.schedule.map { String($0) }),
      ("payload", job.payload), ("output", job.output),
    ]
    for (name, value) in rows {
      if let value, !value.isEmpty { table.append([name, value]) }
    }
    return table
  }

  private static func took(_ job: JobStatus) -> String? {
    guard job.state != .cancelled, let started = job.startedAt, let ended = job.finishedAt else {
      return nil
    }
    let seconds = max(0, ended.timeIntervalSince(started))
    return "\(JobText.duration(seconds: seconds)) in the last attempt"
  }

  private static func name(_ runner: JobRunnerStatus) -> String {
    "\(runner.epoch): \(runner.command), pid \(runner.process) on \(runner.host)"
      + (runner.isAlive ? "" : ", dead")
  }

  private static func attempts(_ attempts: [JobAttempt], _ text: JobText) -> TextTable {
    var table = TextTable([
      .init("attempt", .number), .init("outcome"), .init("ended"), .init("took", .number),
      .init("runner", .number), .init("error"),
    ])
    for attempt in attempts {
      table.append([
        String(attempt.number), attempt.outcome, text.time(attempt.endedAt),
        JobText.duration(
          seconds: attempt.startedAt.map { max(0, attempt.endedAt.timeIntervalSince($0)) }),
        attempt.epoch.map { String($0) } ?? "", attempt.error ?? "",
      ])
    }
    return table
  }
}

extension JobDetails {
  /// Why a job that has not ended does not run.
  fileprivate var reasonOfWait: String? {
    switch job.state {
    case .ready where isQueuePaused: "its queue to be resumed"
    case .ready where !isKindServed: "a worker that knows its kind"
    case .ready: "a free place in a worker"
    case .held: "another job with the same limit to end"
    case .blocked: "a batch of jobs to end"
    case .running where runner?.isAlive != true: "a worker to take it over: its runner is dead"
    case .scheduled: "its time"
    case .running, .succeeded, .discarded, .cancelled, .poisoned: nil
    }
  }
}
