/// The right to finish a job: which claim of it, by which runner. A finish under another claim is too
/// late and changes nothing.
struct Claim: Hashable, Sendable {
  let job: JobID
  /// Of the runner.
  let epoch: Int64
  /// Among all claims of the job.
  let number: Int64
}
