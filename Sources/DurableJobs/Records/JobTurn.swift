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
extension JobRecord {
  /// Changes the state of the job, and with it the entry in the index.
  ///
  /// - Parameter date: The value of `at` in the table above.
  mutating func move(to state: JobState, at date: Date) {
    set(.state, state.rawValue)
    set(.at, date)
    clear(.place)
    clear(.lane)
    set(.rank, Int64(0))
    switch state {
    case .ready, .held:
      set(.lane, lane)
      set(.rank, -priority)
      if state == .held, let limitKey { set(.place, limitKey) }
    case .running:
      if let limitKey { set(.place, limitKey) }
    case .scheduled, .blocked, .succeeded, .discarded, .cancelled, .poisoned: break
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
