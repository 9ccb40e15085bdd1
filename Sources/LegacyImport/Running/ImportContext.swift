import EntityStore

/// What the parts of one run share.
struct ImportContext {
  let target: any ImportDestination
  let database: SourceDatabase
  let bound: BoundMapping
  let contents: CellContents
  /// The number of the _Import.
  let source: Int64
  let run: Int64
  let duplicates: DuplicateKeys
  let isCancelled: @Sendable () -> Bool
  let progress: @Sendable (ImportProgress) -> Void

  func checkCancellation() throws {
    if isCancelled() { throw CancellationError() }
  }
}

/// How far a run or a plan has come.
public struct ImportProgress: Hashable, Sendable {
  public enum Stage: String, Hashable, Sendable {
    /// The file is copied.
    case copying
    /// Rows become records.
    case objects
    /// Records are linked.
    case links
    /// What was written is read back.
    case verification
  }

  public let stage: Stage
  /// The table or the relationship.
  public let name: String
  public let done: Int64
  /// 0 where it is not known.
  public let total: Int64
}
