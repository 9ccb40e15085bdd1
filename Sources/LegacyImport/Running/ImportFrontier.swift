/// How far a run has come; committed with each chunk of it.
struct ImportFrontier: Codable, Sendable {
  enum Stage: Codable, Hashable, Sendable {
    /// A table by its number in the mapping, and the last row of it that is done.
    case objects(table: Int, after: RowPosition?)
    /// A relationship by its number, and the last row that is done.
    case links(Int, after: RowPosition?)
    /// Everything is written; it is read back.
    case verification
  }

  let run: Int64
  /// Of the file and of the mapping: another one begins anew.
  let fingerprint: String
  let mapping: String
  var stage = Stage.objects(table: 0, after: nil)
  /// By the number of the entity in the mapping.
  var counts: [WriteCounts]
}

/// What was written of one entity of a mapping.
public struct WriteCounts: Codable, Hashable, Sendable {
  public internal(set) var new: Int64 = 0
  public internal(set) var changed: Int64 = 0
  public internal(set) var unchanged: Int64 = 0
  /// Rows that have changed, whose records somebody has deleted: they stay deleted.
  public internal(set) var deleted: Int64 = 0
}
