/// Where a job stands.
///
///     scheduled ──→ ready ──→ running ──→ succeeded
///         ↑           ↑ ↓        │ ├────→ discarded   tried as often as allowed, or given up
///         │           held       │ ├────→ cancelled
///         │           ↑          │ └────→ poisoned    too many runners died with it
///      blocked ───────┘          ↓
///         └───────────←── retry, snooze, rescue, orderly stop
///
/// A paused queue is no state of its jobs: they stay where they are, and are not claimed.
public enum JobState: String, CaseIterable, Codable, Sendable {
  /// Its time has not come: a delay, a retry, a rescue.
  case scheduled
  /// Can be claimed.
  case ready
  /// Waits for another job with the same limit to end.
  case held
  /// Waits for all jobs of a batch to end.
  case blocked
  case running
  case succeeded
  /// Failed for good.
  case discarded
  case cancelled
  /// The runners died with it again and again.
  case poisoned

  public var isFinished: Bool {
    switch self {
    case .succeeded, .discarded, .cancelled, .poisoned: true
    case .scheduled, .ready, .held, .blocked, .running: false
    }
  }

  /// The words and what they mean: few enough that to hash one takes longer than to compare it with all.
  private static let words = allCases.map { (word: $0.rawValue, state: $0) }

  /// `nil` for a word that this program does not know.
  static func named(_ word: String) -> JobState? { words.first { $0.word == word }?.state }

  /// Those that a job does not leave by itself.
  public static let finished: [JobState] = allCases.filter(\.isFinished)
}
