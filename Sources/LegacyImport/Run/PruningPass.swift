import EntityModel
import EntityStore
import SystemSupport

/// Deletes the records that earlier runs have created from rows that are no longer in the file.
///
/// The rows of the ledger go with the records: a row that returns later becomes a new record. What
/// an unfinished run has deleted is counted by the run that completes it. Delete rules apply, but a
/// cascade does not reach the record of a row that is still in the file.
struct PruningPass {
  let context: ImportContext
  let chunks: ImportChunks
  /// True to delete even most of the records.
  let allowsMost: Bool

  func run() throws -> ImportReport.Pruning {
    var report = ImportReport.Pruning()
    let ledger = try rowsOfLedger(&report)
    if !allowsMost, areMost(ledger.tables) {
      report.refused = Int64(ledger.vanished.count)
      return report
    }
    // A record that protects another one may go itself: those that stay are tried again.
    var rest = ledger.vanished
    var denied = try delete(rest, ledger.present)
    while !denied.isEmpty, denied.count < rest.count {
      rest = denied
      denied = try delete(rest, ledger.present)
    }
    report.denied = Int64(denied.count)
    report.deleted = chunks.checkpoint.pruned ?? 0
    return report
  }

  // MARK: Rows

  private struct Rows {
    /// The numbers in the ledger of the rows that have vanished.
    var vanished: [Int64] = []
    /// The records of the other rows, by entity. No cascade reaches them.
    var present: [String: NumberSet] = [:]
    /// The counts of the mapping's tables, in their order.
    var tables: [(known: Int64, vanished: Int64)]
  }

  /// Returns the rows of the ledger that came from the tables of the mapping.
  private func rowsOfLedger(_ report: inout ImportReport.Pruning) throws -> Rows {
    var present = NumberSet()
    for table in context.bound.tables { try addRows(of: table, to: &present) }
    // The ledger has the name that the table had when a row came.
    var places: [String: Int] = [:]
    for (place, table) in context.bound.tables.enumerated() {
      for name in [table.table.name, table.identityName] { places[name] = place }
    }
    let entities = context.bound.tables.map { Set($0.parts.map(\.mapping.entity)) }
    var rows = Rows(tables: entities.map { _ in (0, 0) })
    try context.target.read { snapshot in
      try ImportLedger(in: snapshot).each(of: context.source) { entry, table, _ in
        if let place = places[table], entities[place].contains(entry.entity) {
          report.known += 1
          rows.tables[place].known += 1
          if !present.contains(entry.number), !entry.isMatched {
            rows.vanished.append(entry.number)
            rows.tables[place].vanished += 1
            return
          }
          // A matched record may have been there before the import.
          if !present.contains(entry.number) { report.matched += 1 }
        }
        rows.present[entry.entity, default: NumberSet()].insert(entry.object)
      }
    }
    return rows
  }

  /// Returns true if most of the rows of a table have vanished. New records do not count: a table
  /// whose rows all have other keys is as suspicious as an empty one.
  private func areMost(_ tables: [(known: Int64, vanished: Int64)]) -> Bool {
    var part = 0
    return zip(context.bound.tables, tables).contains { table, rows in
      let counts = chunks.checkpoint.counts.all[part..<(part + table.parts.count)]
      part += table.parts.count
      let known = rows.known - counts.reduce(0) { $0 + $1.new }
      return rows.vanished > Int64(Limits.prunedCountMin)
        && Double(rows.vanished) > Limits.prunedShareMax * Double(known)
    }
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
  private func delete(_ rows: [Int64], _ present: [String: NumberSet]) throws -> [Int64] {
    var denied: [Int64] = []
    try chunks.run(over: rows, with: { ($0, try ImportLedger(in: $0)) }) {
      writer, number, checkpoint in
      let (transaction, ledger) = writer
      if try delete(number, present, ledger, transaction) {
        checkpoint.pruned = (checkpoint.pruned ?? 0) + 1
      } else {
        denied.append(number)
      }
    }
    return denied
  }

  /// - Returns: False if the store refuses the deletion because of a relationship.
  private func delete(
    _ number: Int64, _ present: [String: NumberSet], _ ledger: ImportLedger,
    _ transaction: WriteTransaction
  ) throws -> Bool {
    guard let entry = try ledger.entry(at: number) else { return true }
    let entity = try transaction.layout(entry.entity)
    // It may have been deleted by hand, or with another record.
    if let old = try transaction.view(of: entry.object, in: entity) {
      let terms = Deletion.Terms(mustStay: { present[$0.entity]?.contains($0.id) == true })
      do {
        try Deletion.run(of: entry.object, old, in: entity, on: terms, transaction)
      } catch let error as StoreError where error.code == .deletionDenied {
        return false
      }
    }
    try ledger.remove(entry, in: transaction)
    return true
  }
}
