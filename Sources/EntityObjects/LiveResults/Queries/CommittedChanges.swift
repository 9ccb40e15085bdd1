import EntityModel
import EntityStore

/// The changes of one request's records and dependencies by the commits after a position in the
/// change history.
struct CommittedChanges {
  /// The ids of the request's own records that were inserted, changed or deleted.
  private(set) var records: Set<Int64> = []
  /// True if properties that decide membership or order of the own records have changed.
  private(set) var touchesOwn = false
  /// True if records of other entities on which the result depends have changed.
  private(set) var touchesOthers = false
  /// True if the history does not say what has changed. The other properties are then meaningless.
  private(set) var isUnknown = false
  /// True if too many records have changed to process them one by one.
  var areMany: Bool { records.count > Limits.changesFollowedMax }
  /// Reads the changes after a position.
  ///
  /// - Parameter after: The last position that was read. If the history does not reach back to it,
  ///   the changes are unknown.
  init(
    after: Int64, for dependencies: Dependencies, in transaction: ReadTransaction
  ) throws {
    guard let tree = transaction.historyTree, try tree.reaches(back: after) else {
      isUnknown = true
      return
    }
    try tree.forEach(after: after, change: { add($0, dependencies) }, end: { !isDecided })
  }

  /// True if all rows must be fetched again, whatever else has changed. The rest of the history is
  /// then not read.
  private var isDecided: Bool { isUnknown || touchesOthers || touchesOwn && areMany }

  private mutating func add(_ change: HistoryTree.Change, _ dependencies: Dependencies) {
    let isOwn = change.entityID == dependencies.entityID
    let others = dependencies.others[change.entityID]
    if !isOwn, others == nil { return }
    switch change.kind {
    case .unrecorded: isUnknown = true
    case .insert, .delete:
      if isOwn { touchesOwn = true }
      if others != nil { touchesOthers = true }
    case .update:
      if isOwn, change.properties.contains(where: dependencies.own.contains) { touchesOwn = true }
      if let others, change.properties.contains(where: others.contains) { touchesOthers = true }
    }
    if isOwn, change.kind != .unrecorded, !areMany { records.insert(change.id) }
  }
}
