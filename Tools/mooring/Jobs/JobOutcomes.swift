import ArgumentParser
import Console
import DurableJobs
import EntityModel

/// Does the same to several jobs, one after the other, and prints the state in which each is then.
struct JobOutcomes {
  let jobs: [JobID]
  let format: OutputFormat

  /// - Throws: The error of the only job; of several, each error is said, and the command ends with
  ///   the status of the first.
  func run(_ change: (JobID) async throws -> JobState) async throws {
    var states: [(JobID, JobState)] = []
    var failure: (any Error)?
    for job in jobs {
      do {
        states.append((job, try await change(job)))
      } catch let error as JobError where jobs.count > 1 {
        Message.say("\(error)")
        failure = failure ?? error.exitStatus.exitCode
      }
    }
    let written = Result {
      try StandardOutput.with { output in
        var rows = RowWriter(titles: ["job", "state"], format: format)
        for (job, state) in states {
          try rows.write([.int64(job.rawValue), .string(state.rawValue)], &output)
        }
        try rows.end(&output)
      }
    }
    if let failure { throw failure }
    try written.get()
  }
}
