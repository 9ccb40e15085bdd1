import EntityModel
import Foundation

/// Where a job stands in the index `byTurn`, which holds each job once, whatever its state:
///
///     state       place      lane         rank        at
///     scheduled   –          –            0           when it becomes ready
///     ready       –          queue/kind   −priority   since when it is
///     held        limit key  queue/kind   −priority   since when it was ready
///     blocked     –          –            0           when it was enqueued
///     running     limit key  –            0           when it was claimed
///     finished    –          –            0           when it may be removed
///
/// So the first entry of a lane is the next to claim, the first of `scheduled` the next to become
/// ready, the first of a finished state the next to remove, and the jobs of a limit that run, or that
/// wait for it, stand together. A lane is of one kind, so that the jobs of an unknown kind are passed
/// over with one step, however many there are.
extension JobRecord {
  /// Puts the job into a state, and in its place there.
  mutating func move(to state: JobState, at date: Date) {
    set(.state, .string(state.rawValue))
    set(.at, .date(date))
    set(.place, .null)
    set(.lane, .null)
    set(.rank, .int64(0))
    switch state {
    case .ready, .held:
      set(.lane, .string(lane))
      set(.rank, .int64(-priority))
      if state == .held, let limitKey { set(.place, .string(limitKey)) }
    case .running:
      if let limitKey { set(.place, .string(limitKey)) }
    case .scheduled, .blocked, .succeeded, .discarded, .cancelled, .poisoned: break
    }
  }

  /// Since when it is ready, when it becomes so, when it may be removed.
  var at: Date { date(.at) ?? .distantPast }
  var rank: Int64 { int64(.rank) ?? 0 }

  /// Whether the job stands where its state and the rest of it say.
  var isInPlace: Bool {
    guard let state else { return false }
    var copy = self
    copy.move(to: state, at: at)
    return JobColumn.ofTurn.allSatisfy { copy.value($0) == value($0) }
  }
}
