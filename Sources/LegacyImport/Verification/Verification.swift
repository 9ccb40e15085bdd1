import EntityModel
import EntityStore
import Foundation
import SystemSupport

/// Reads each row of the source once more and compares it with its record. Depends on nothing that
/// the run remembers but the ledger, so that an interrupted run is verified like any other.
struct Verification {
  private let context: ImportContext
  private var seen = NumberSet()

  init(_ context: ImportContext) { self.context = context }

  /// - Parameter report: Gets the balance of tables, entities and relationships, and what is gone.
  mutating func run(_ report: inout ImportReport) throws {
    for table in context.bound.tables { try verify(table, &report) }
    for link in context.bound.links {
      report.relationships.append(try LinkVerification(link: link, context: context).run())
    }
    try countRejects(&report)
    try findGone(&report)
  }

  // MARK: Rows

  private mutating func verify(_ table: BoundTable, _ report: inout ImportReport) throws {
    var entities = table.parts.map {
      EntityBalance(name: $0.mapping.entity, table: table.table.name)
    }
    let audit = RowAudit(table: table, stage: .verification, context: context)
    let balance = try audit.run { rows, balance in
      try context.target.read { snapshot in
        let reader = try RecordCheck(table, context, in: snapshot)
        for row in rows { try reader.check(row, &balance, &entities, &seen) }
      }
    }
    report.tables.append(balance)
    for entity in entities { report.entities.append(entity.finished()) }
  }

  // MARK: What is left

  private func countRejects(_ report: inout ImportReport) throws {
    try context.target.read { snapshot in
      let layout = try snapshot.layout(ImportRecords.reject)
      let source = try layout.position(of: "source")
      let code = try layout.position(of: "code")
      try snapshot.eachRow(of: layout) { row in
        if row.int64(source) == context.source, case .string(let code) = try row.value(code) {
          report.rejects[code, default: 0] += 1
        }
        return true
      }
    }
  }

  private func findGone(_ report: inout ImportReport) throws {
    let tables = Set(context.bound.tables.flatMap { [$0.table.name, $0.identityName] })
    try context.target.read { snapshot in
      try ImportLedger(in: snapshot).each(of: context.source, besides: seen) { _, table, key in
        report.gone += 1
        if report.goneRows.count < Limits.rowsNamedMax {
          let isKnown = tables.contains(table)
          report.goneRows.append(
            "\(table) \(key)" + (isKnown ? "" : " (the mapping has no such table)"))
        }
      }
    }
  }
}

/// The counts and digests of one entity.
struct EntityBalance {
  var entity: ImportReport.Entity
  private var expected = UnorderedDigest()
  private var found = UnorderedDigest()

  init(name: String, table: String) { entity = ImportReport.Entity(name: name, table: table) }

  /// Counts a record that is as the source gives it, or that has been changed in the store.
  mutating func find(expected digest: Int64, found other: Int64) {
    entity.found += 1
    if digest == other {
      expected.add(digest)
      found.add(other)
    }
  }

  mutating func differ(expected digest: Int64, found other: Int64?, _ problem: String) {
    expected.add(digest)
    if let other {
      found.add(other)
      entity.found += 1
    }
    if entity.problems.count < Limits.rowsNamedMax { entity.problems.append(problem) }
  }

  func finished() -> ImportReport.Entity {
    var entity = entity
    entity.expectedDigest = expected.text
    entity.foundDigest = found.text
    return entity
  }
}

/// Compares rows with their records, in one snapshot.
private struct RecordCheck {
  private let table: BoundTable
  private let context: ImportContext
  private let snapshot: ReadTransaction
  private let ledger: ImportLedger
  /// The layouts of the entities, by part.
  private let layouts: [EntityLayout]

  init(_ table: BoundTable, _ context: ImportContext, in snapshot: ReadTransaction) throws {
    self.table = table
    self.context = context
    self.snapshot = snapshot
    ledger = try ImportLedger(in: snapshot)
    layouts = try table.parts.map { try $0.layout(in: snapshot) }
  }

  func check(
    _ row: WalkedRow, _ balance: inout ImportReport.Table, _ entities: inout [EntityBalance],
    _ seen: inout NumberSet
  ) throws {
    switch row.outcome {
    case .skipped: balance.skipped += 1
    case .rejected(let rejected):
      balance.rejected += 1
      // One that was taken before stays, as it was.
      if let identity = rejected.identity, let entry = try ledger.entry(of: identity) {
        seen.insert(entry.number)
      }
    case .accepted(let mapped):
      guard let entry = try ledger.entry(of: mapped.identity) else {
        return try checkReject(mapped, &balance)
      }
      seen.insert(entry.number)
      if entry.hash != mapped.hash, try isRejected(mapped) {
        balance.rejected += 1
        return
      }
      balance.accepted += 1
      try check(mapped, entry, &entities[mapped.part])
    }
  }

  /// Counts a row without a record: the store has refused it, or it was lost.
  private func checkReject(_ mapped: MappedRow, _ balance: inout ImportReport.Table) throws {
    if try isRejected(mapped) {
      balance.rejected += 1
    } else if balance.problems.count < Limits.rowsNamedMax {
      balance.problems.append(
        "row \(RowIdentity.excerpt(of: mapped.key)) has no record and no reject")
    }
  }

  private func isRejected(_ mapped: MappedRow) throws -> Bool {
    try RejectSearch(in: snapshot).contains(mapped.identity)
  }

  private func check(
    _ mapped: MappedRow, _ entry: LedgerEntry, _ balance: inout EntityBalance
  ) throws {
    let entity = table.parts[mapped.part]
    balance.entity.expected += 1
    // A record that this run has written must be unchanged. Another one may have been changed
    // since.
    let isOurs = entry.run == context.run
    guard entry.entity == entity.mapping.entity,
      let record = try snapshot.row(entry.object, of: layouts[mapped.part])
    else {
      guard isOurs else {
        balance.entity.deleted += 1
        return
      }
      return balance.differ(
        expected: mapped.digest, found: nil,
        "row \(RowIdentity.excerpt(of: mapped.key)): \(entry.objectID) is not there")
    }
    var digest = ValueDigest()
    for (number, position) in entity.positions.enumerated() {
      if mapped.missing[number] == nil {
        try digest.append(record, position)
      } else {
        digest.append(Value.null)
      }
    }
    let found = digest.hash
    if found == mapped.digest { return balance.find(expected: mapped.digest, found: found) }
    if !isOurs {
      balance.entity.edited += 1
      return balance.find(expected: mapped.digest, found: found)
    }
    balance.differ(
      expected: mapped.digest, found: found,
      "row \(RowIdentity.excerpt(of: mapped.key)): \(entry.objectID) has other values")
  }
}
