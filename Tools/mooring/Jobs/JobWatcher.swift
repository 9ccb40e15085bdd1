import Console
import DurableJobs

/// Follows a job until it ends: by a progress line on a terminal, else by one line for each change.
struct JobWatcher {
  let queue: JobQueue
  let options: StoreOptions
  /// Called with each status that is new, in order.
  var eachStatus: @Sendable (JobStatus) throws -> Void = { _ in }

  /// - Returns: The state of the job at its end.
  /// - Throws: `JobError` with `unknownJob`; exit status 130 after Ctrl-C, which is then said. The
  ///   job continues.
  func watch(_ id: JobID) async throws -> JobStatus {
    let command = LongCommand(isQuiet: options.quiet)
    let (queue, eachStatus) = (queue, eachStatus)
    return try await command.run(
      afterInterrupt: "the job continues, see `mooring jobs watch \(id)`"
    ) {
      var lastText: String?
      for try await status in queue.updates(of: id) {
        try eachStatus(status)
        let text = Self.text(of: status)
        if command.writesMessages, text != lastText { Message.say("job \(id): \(text)") }
        lastText = text
        if status.state.isFinished { return status }
        command.report(
          "job \(id) \(JobText.state(status))", done: status.progress.done ?? 0,
          of: status.progress.total, note: status.progress.note)
      }
      throw CancellationError()
    }
  }

  private static func text(of status: JobStatus) -> String {
    let progress = JobText.progress(status.progress)
    let state = JobText.state(status)
    return state + (progress.isEmpty ? "" : ", \(progress)")
      + (status.state == .succeeded ? "" : status.error.map { ": \($0)" } ?? "")
  }
}
