import EntityModel
import Foundation

/// The checkpoint of a step that is done in chunks; committed with each chunk.
struct MigrationCheckpoint: Codable, Sendable {
  package enum Stage: Codable, Sendable {
    /// Records are being scanned; `last` is the last one that was scanned.
    case records(last: Int64)
    /// The keys of the index with this number are to be sorted.
    case sorting(Int)
    /// The keys of the index with this number are being appended; `last` is the last one, `nil`
    /// before the first.
    case appending(Int, KeyRuns, last: Data?)
    /// Concurrent changes are being taken over.
    case catchingUp

    private enum CodingKeys: String, CodingKey {
      case records, sorting, appending
      // The name in checkpoints of earlier versions.
      case catchingUp = "settling"
    }

    /// The stage as it is reported.
    var name: MigrationProgress.Stage {
      switch self {
      case .records: .records
      case .sorting: .sorting
      case .appending: .writing
      case .catchingUp: .catchingUp
      }
    }
  }

  var stage: Stage
  /// The time at which the step began. The word `now` stands for it, also after an interruption.
  let startedAt: Date
  /// The number of records or keys of the stage that are done.
  var done: Int64 = 0
  /// The number of records that have matched.
  var matches = 0
  /// The number of transactions in which the side log has been applied.
  var rounds = 0
}
