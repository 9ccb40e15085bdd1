import Console
import DurableJobs

/// The output of a command that has enqueued a job.
struct JobEnqueued: Encodable {
  let job: JobID
  /// `false` if another job has its unique key.
  let isNew: Bool

  init(_ job: EnqueuedJob) {
    self.job = job.id
    isNew = job.isNew
  }

  func write(_ format: OutputFormat) throws {
    try StandardOutput.with { output in
      switch format {
      case .table: try output.write("job \(job)\n")
      case .json, .jsonl: try output.write(try JSONText.of(self) + "\n")
      case .csv, .exactCSV:
        try output.writeCSV(["job", "isNew"], as: format)
        try output.writeCSV([job.description, String(isNew)], as: format)
      }
    }
  }
}
