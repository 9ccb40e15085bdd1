import Foundation

@testable import DurableJobs

/// One thing that happens to the jobs of a store, as a value: done to the store and to the model.
enum HistoryStep {
  case enqueue(JobRequest, group: Int64?)
  case group([JobRequest], completion: JobRequest?)
  case openGroup(completion: JobRequest?)
  case closeGroup(Int64)
  /// The transaction of a runner.
  case exchange(ended: [(Claim, Outcome)], progress: [(Claim, JobProgress)], ClaimTerms)
  /// A handler writes a checkpoint, or the end of its job with its own changes.
  case checkpoint(Claim)
  case complete(Claim)
  case rescue(epoch: Int64, wasStopping: Bool)
  case cancel(JobID)
  case retry(JobID)
  case setPaused(Bool, QueueName)
  case prune
  case advance(seconds: Double)
}

/// The result of a step.
enum HistoryAnswer: Equatable {
  case nothing
  case job(EnqueuedJob)
  case group(Int64)
  case exchange([FinishResult], claimed: [Int64])
  case state(JobState)
  case count(Int)
  case refused(JobError.Code)
}
