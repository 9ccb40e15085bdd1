import EntityModel
import EntityStore
import SystemSupport

/// Deletes the records that earlier runs have created from rows that are no longer in the file.
///
/// The rows of the ledger go with the records: a row that returns later becomes a new record. What
/// an unfinished run has deleted is counted by the run that completes it.
struct PruningPass {
  let context: ImportContext
  let chunks: ImportChunks
  /// True to delete even most of the records.
  let allowsMost: Bool

  func run() throws -> ImportReport.Pruning {
    var report = ImportReport.Pruning()
    let vanished = try vanishedRows(&report)
    // New records do not count: a file whose rows all have other keys is as suspicious as an empty
    // one.
    let known = report.known - chunks.checkpoint.counts.reduce(0) { $0 + $1.new }
    if !allowsMost, vanished.count > Limits.prunedCountMin,
      Double(vanished.count) > Limits.prunedShareMax * Double(known)
    {
      report.refused = Int64(vanished.count)
      return report
    }
    // A record that protects another one may go itself: those that stay are tried again.
    var rest = vanished
    var denied = try delete(rest)
    while !denied.isEmpty, denied.count < rest.count {
      rest = denied
      denied = try delete(rest)
    }
    report.denied = Int64(denied.count)
    report.deleted = chunks.checkpoint.pruned ?? 0
    return report
  }

  // MARK: Rows

  /// Returns the numbers in the ledger of the rows that have vanished from the tables of the
  /// mapping.
  private func vanishedRows(_ report: inout ImportReport.Pruning) throws -> [Int64] {
    var present = NumberSet()
    for table in context.bound.tables { try addRows(of: table, to: &present) }
    let entities = Dictionary(
      context.bound.tables.map { ($0.identityName, Set($0.parts.map(\.mapping.entity))) }
    ) { first, _ in first }
    var vanished: [Int64] = []
    try context.target.read { snapshot in
      try ImportLedger(in: snapshot).each(of: context.source) { entry, table, _ in
        report.known += 1
        guard entities[table]?.contains(entry.entity) == true, !present.contains(entry.number)
        else { return }
        // Such a record may have been there before the import.
        if entry.isMatched { report.matched += 1 } else { vanished.append(entry.number) }
      }
    }
    return vanished
  }

  /// Adds the rows of the ledger for all rows of a table, whether the mapping takes them or not.
  private func addRows(of table: BoundTable, to present: inout NumberSet) throws {
    let slim = try table.slim(relationship: nil)
    let reader = try context.database.rows(of: slim.table, columns: slim.columns)
    var done: Int64 = 0
    var isAtEnd = false
    while !isAtEnd {
      try context.checkCancellation()
      var identities: [RowIdentity] = []
      while identities.count < Limits.chunkRowsMax {
        guard let row = try reader.next() else {
          isAtEnd = true
          break
        }
        done += 1
        if let identity = RowIdentity(
          source: context.source, table: table.identityName, key: slim.key(of: row))
        {
          identities.append(identity)
        }
      }
      try context.target.read { snapshot in
        let ledger = try ImportLedger(in: snapshot)
        for identity in identities {
          if let entry = try ledger.entry(of: identity) { present.insert(entry.number) }
        }
      }
      context.progress(
        ImportProgress(stage: .pruning, name: slim.table.name, done: done, total: 0))
    }
  }

  // MARK: Records

  /// - Returns: The rows whose records the store does not delete because of a relationship.
  private func delete(_ rows: [Int64]) throws -> [Int64] {
    var denied: [Int64] = []
    try chunks.run(over: rows, with: { ($0, try ImportLedger(in: $0)) }) {
      writer, number, checkpoint in
      let (transaction, ledger) = writer
      if try delete(number, ledger, transaction) {
        checkpoint.pruned = (checkpoint.pruned ?? 0) + 1
      } else {
        denied.append(number)
      }
    }
    return denied
  }

  /// - Returns: False if the store refuses the deletion because of a relationship.
  private func delete(
    _ number: Int64, _ ledger: ImportLedger, _ transaction: WriteTransaction
  ) throws -> Bool {
    guard let entry = try ledger.entry(at: number) else { return true }
    // It may have been deleted by hand, or with another record.
    if try transaction.get(entry.objectID) != nil {
      do {
        try transaction.delete(entry.objectID)
      } catch let error as StoreError where error.code == .deletionDenied {
        return false
      }
    }
    try ledger.remove(entry, in: transaction)
    return true
  }
}
