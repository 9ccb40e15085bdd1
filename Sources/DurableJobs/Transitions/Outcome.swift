import Foundation

/// How one attempt ended, as its runner tells.
enum Outcome: Sendable {
  /// With its output, as JSON.
  case succeeded(Data?)
  /// The handler threw: tried again after the wait, unless that was the last attempt.
  case failed(String, wait: Duration)
  /// Not to be tried again.
  case discarded(String)
  /// Put off, maybe because of an error; the attempt does not count.
  case snoozed(Duration, String?)
  /// It was cancelled, and ended.
  case cancelled
  /// The runner stops in order: as if it had not been claimed.
  case handedBack

  var error: String? {
    switch self {
    case .failed(let text, _), .discarded(let text): text
    case .snoozed(_, let text): text
    case .succeeded, .cancelled, .handedBack: nil
    }
  }
}

/// What became of a finish.
enum FinishResult: Equatable, Sendable {
  case finished(JobState)
  /// The job is under another claim, or has ended: nothing was changed.
  case lostClaim
}
