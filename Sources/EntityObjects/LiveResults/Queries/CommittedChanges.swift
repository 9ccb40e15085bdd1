import EntityModel
import EntityStore
import LMDB

/// What the commits after a place in the history mean for one request.
struct CommittedChanges {
  /// Records of the request's own entity that were made, changed or deleted, each once.
  private(set) var records: Set<Int64> = []
  /// Whether what decides membership or order of its own records was among that.
  private(set) var touchesOwn = false
  /// Whether other records on which the answer depends were changed.
  private(set) var touchesOthers = false
  /// Whether something was changed that nothing says what: then nothing else here counts.
  private(set) var isUnknown = false
  /// Whether more records were changed than should be looked at one by one.
  var areMany: Bool { records.count > Limits.changesFollowedMax }
  /// - Parameter after: What has been seen. If the history does not reach back to it, nothing is
  ///   known.
  init(
    after: Int64, for dependencies: Dependencies, in transaction: ReadTransaction
  ) throws {
    guard let tree = transaction.historyTree, try tree.reaches(back: after) else {
      isUnknown = true
      return
    }
    try tree.forEach(after: after, change: { add($0, dependencies) }, end: { !isDecided })
  }

  /// Whether all must be looked at anew, whatever else was changed: the rest is not read then.
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
