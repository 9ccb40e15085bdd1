import Console
import DurableJobs
import Foundation

/// The output of a command that has waited for a job.
enum JobEnding {
  /// Follows a job to its end and prints how that was.
  ///
  /// - Throws: The errors of `JobWatcher.watch`; exit status 65 if the job has not succeeded.
  static func watch(
    _ job: JobID, in queue: JobQueue, _ options: StoreOptions, _ format: OutputFormat
  ) async throws {
    var watcher = JobWatcher(queue: queue, options: options)
    if format == .jsonl {
      watcher.eachStatus = { status in
        try StandardOutput.with { try $0.write(try JSONText.of(status) + "\n") }
      }
    }
    let status = try await watcher.watch(job)
    let written = Result {
      try StandardOutput.with { output in
        switch format {
        case .json: try output.write(try JSONText.of(status) + "\n")
        case .table: try output.write(text(of: status).singleLine + "\n")
        case .jsonl, .csv, .exactCSV: break
        }
      }
    }
    if status.state != .succeeded { throw ExitStatus.badData.exitCode }
    try written.get()
  }

  private static func text(of status: JobStatus) -> String {
    var text = "job \(status.id) \(status.state)"
    if let started = status.startedAt, let ended = status.finishedAt {
      let seconds = max(0, ended.timeIntervalSince(started))
      text += " after \(JobText.duration(seconds: seconds))"
    }
    let detail = status.state == .succeeded ? status.output : status.error
    return text + (detail.map { ": \($0)" } ?? "")
  }
}
