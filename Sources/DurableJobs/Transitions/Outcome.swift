import Foundation

/// The end of an attempt, as its runner reports it.
enum Outcome: Sendable {
  /// The handler has returned an output, as JSON.
  case succeeded(Data?)
  /// The handler has thrown an error. The job is tried again after the wait, unless this was its
  /// last attempt.
  case failed(String, wait: Duration)
  /// The job is not tried again.
  case discarded(String)
  /// The job runs again after this time, maybe because of an error; the attempt does not count.
  case snoozed(Duration, String?)
  /// The job was cancelled.
  case cancelled
  /// The runner stops: the job returns to its queue as if it had not been claimed.
  case handedBack

  var error: String? {
    switch self {
    case .failed(let text, _), .discarded(let text): text
    case .snoozed(_, let text): text
    case .succeeded, .cancelled, .handedBack: nil
    }
  }
}

/// The result of writing the end of an attempt.
enum FinishResult: Equatable, Sendable {
  case finished(JobState)
  /// The job has another claim or has ended. Nothing was changed.
  case lostClaim
}
