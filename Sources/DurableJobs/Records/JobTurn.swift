import EntityModel
import Foundation

/// The entry of a job in the index `byTurn`, which holds each job once:
///
///     state       place      lane         rank        at
///     scheduled   –          –            0           when it becomes ready
///     ready       –          queue/kind   −priority   when it became ready
///     held        limit key  queue/kind   −priority   when it became ready
///     blocked     –          –            0           when it was enqueued
///     running     limit key  –            0           when it was claimed
///     finished    –          –            0           when it may be removed
///
/// The first entry of a lane is the next job to claim, the first of `scheduled` the next to become
/// ready, and the first of a finished state the next to remove. The jobs that run under a limit, or
/// wait for it, are neighbors. A lane has one kind, so that jobs of an unknown kind are skipped in
/// one step, however many there are.
struct JobTurn {
  let state: JobState
  let at: Date
  var place: String?
  var lane: String?
  var rank: Int64 = 0

  init(
    _ state: JobState, at: Date, place: String? = nil, lane: String? = nil, rank: Int64 = 0
  ) {
    self.state = state
    self.at = at
    self.place = place
    self.lane = lane
    self.rank = rank
  }

  static func lane(_ queue: QueueName, _ kind: JobKind) -> String {
    queue.rawValue + "/" + kind.rawValue
  }
}

extension JobRecord {
  /// Changes the state of the job, and with it the entry in the index.
  ///
  /// - Parameter date: The value of `at` in the table above.
  mutating func move(to state: JobState, at date: Date) {
    set(turn(in: state, at: date))
  }

  private func turn(in state: JobState, at date: Date) -> JobTurn {
    switch state {
    case .ready: JobTurn(state, at: date, lane: lane, rank: -priority)
    case .held: JobTurn(state, at: date, place: limitKey, lane: lane, rank: -priority)
    case .running: JobTurn(state, at: date, place: limitKey)
    case .scheduled, .blocked, .succeeded, .discarded, .cancelled, .poisoned:
      JobTurn(state, at: date)
    }
  }

  /// The time that the table above names for the state.
  var at: Date { date(.at) ?? .distantPast }
  var rank: Int64 { int64(.rank) ?? 0 }

  /// True if the index entry matches the state and the other attributes.
  var isInPlace: Bool {
    guard let state else { return false }
    var copy = self
    copy.move(to: state, at: at)
    return JobColumn.ofTurn.allSatisfy { copy.value($0) == value($0) }
  }
}
