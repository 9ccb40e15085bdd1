import EntityModel
import Foundation

/// How far a step has come that is done in chunks; committed with each of them.
struct MigrationFrontier: Codable, Sendable {
  package enum Stage: Codable, Sendable {
    /// The last record that has been gone over.
    case records(last: Int64)
    /// The keys of the index of this number are to be sorted.
    case sorting(Int)
    /// They are being appended: the last one that has been; `nil` before the first.
    case appending(Int, KeyRuns, last: Data?)
    /// What others have changed meanwhile is taken over.
    case settling
  }

  var stage: Stage
  /// When the step began: what `now` stands for, also after an interruption.
  let startedAt: Date
  /// Of the stage.
  var done: Int64 = 0
  /// Records that have matched.
  var matches = 0
  /// Transactions in which notes have been settled.
  var rounds = 0
}
