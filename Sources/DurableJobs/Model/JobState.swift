/// The state of a job.
///
///     scheduled ──→ ready ──→ running ──→ succeeded
///         ↑           ↑ ↓        │ ├────→ discarded   out of attempts, or discarded by its handler
///         │           held       │ ├────→ cancelled
///         │           ↑          │ └────→ poisoned    too many runners died with it
///      blocked ───────┘          ↓
///         └───────────←── retry, snooze, rescue, orderly stop
///
/// Pausing a queue does not change the state of its jobs: they are only not claimed.
public enum JobState: String, CaseIterable, Codable, Sendable {
  /// Waits for its time: after a delay, a failure or the death of its runner.
  case scheduled
  /// Can be claimed.
  case ready
  /// Waits for another job with the same limit to end.
  case held
  /// Waits for all jobs of a group to end.
  case blocked
  case running
  case succeeded
  /// Has failed and is not tried again.
  case discarded
  case cancelled
  /// Too many of its runners have died.
  case poisoned

  public var isFinished: Bool {
    switch self {
    case .succeeded, .discarded, .cancelled, .poisoned: true
    case .scheduled, .ready, .held, .blocked, .running: false
    }
  }

  /// The states by their stored words. Comparing with all of them is faster than hashing one.
  private static let words = allCases.map { (word: $0.rawValue, state: $0) }

  /// The state with this stored word; `nil` for a word that this program does not know.
  static func named(_ word: String) -> JobState? { words.first { $0.word == word }?.state }

  /// The states in which a job has ended.
  public static let finished: [JobState] = allCases.filter(\.isFinished)
}
