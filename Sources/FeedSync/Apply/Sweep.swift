import EntityModel
import EntityStore

/// Deletes the feed's records that a full listing did not contain.
///
/// Refuses to delete more than half of the records, which is likely to be the publisher's mistake,
/// unless the operator allows it.
struct Sweep {
  let feedID: Int64
  let targets: [String: FeedTarget]
  let allowsAll: Bool

  func run(
    _ seen: SeenRecords, _ report: inout SyncReport, in transaction: WriteTransaction
  ) throws {
    var gone: [(target: FeedTarget, id: Int64)] = []
    var total = 0
    for name in targets.keys.sorted() {
      guard let target = targets[name] else { continue }
      try transaction.eachRow(of: target.entity) { row in
        if row.int64(target.feedID) == feedID {
          total += 1
          if !seen.contains(row.id, of: name) { gone.append((target, row.id)) }
        }
        return true
      }
    }
    // New records do not count: a feed that has replaced all of its items is as suspicious as an
    // empty one.
    if !allowsAll, gone.count > SyncLimits.deletedCountMin,
      Double(gone.count) > SyncLimits.deletedShareMax * Double(total - report.new)
    {
      report.outcome = .deletionsRefused
      report.refusedDeletions = gone.count
      return
    }
    for (target, id) in gone { try delete(id, target, transaction) }
    report.deleted += gone.count
    report.absent += gone.count
  }

  private func delete(
    _ id: Int64, _ target: FeedTarget, _ transaction: WriteTransaction
  ) throws {
    guard let row = try transaction.row(id, of: target.entity)?.values(),
      case .string(let itemID) = row[target.id]
    else { return }
    // The revision of the deletion is unknown. A later listing may contain the item unchanged, and
    // then it returns; an older copy stays deleted.
    var revision: Int64?
    if case .int64(let number) = row[target.revision], number > .min { revision = number - 1 }
    try Tombstones.leave(
      for: itemID, of: target, feedID: feedID, revision: revision, deletedAt: nil, row: row,
      in: transaction)
    try transaction.delete(ObjectID(entity: target.entity.name, number: id))
  }
}
