import EntityModel
import EntityStore
import Foundation

/// A dry run: every row is read and converted, and checked against the rules, the unique indexes
/// and the records of the store. Nothing is written.
///
/// Texts that are equal only under a collation are found by a run, not by a plan.
struct ImportPlan {
  private let context: ImportContext
  private let reject: (ImportReject) throws -> Void
  private let records: PlannedRecords
  private let referenced: Set<String>

  /// - Parameter reject: Called with each reject as it is found.
  init(_ context: ImportContext, reject: @escaping (ImportReject) throws -> Void) throws {
    self.context = context
    self.reject = reject
    records = try PlannedRecords(context.bound, in: context.database.scratchFolder)
    referenced = Set(
      context.bound.links.flatMap {
        [$0.mapping.table, context.bound.tables[$0.table].table.name]
      })
  }

  func run(_ report: inout ImportReport) throws {
    for table in context.bound.tables { try plan(table, &report) }
    for link in context.bound.links {
      try report.relationships.append(plan(link, &report.rejects))
    }
  }

  // MARK: Rows

  private func plan(_ table: BoundTable, _ report: inout ImportReport) throws {
    var entities = table.parts.map {
      ImportReport.Entity(name: $0.mapping.entity, table: table.table.name)
    }
    let uniques = try table.parts.map { try UniqueValues.all(of: $0) }
    let audit = RowAudit(table: table, stage: .objects, context: context)
    let balance = try audit.run { chunk, balance in
      try context.target.read { snapshot in
        let ledger = try context.source == 0 ? nil : ImportLedger(in: snapshot)
        for row in chunk {
          switch row.outcome {
          case .skipped: balance.skipped += 1
          case .rejected(let rejected):
            balance.rejected += 1
            try note(rejected, table, &report.rejects)
          case .accepted(let mapped):
            let entry = try ledger?.entry(of: mapped.identity)
            let entity = table.parts[mapped.part]
            let count = try count(of: mapped, entry, entity, in: snapshot)
            if count == \.new || count == \.changed,
              let refusal = try records.refusal(
                mapped, of: entity, uniques[mapped.part], entry, in: snapshot)
            {
              balance.rejected += 1
              try note(mapped.rejected(for: refusal), table, &report.rejects)
              continue
            }
            balance.accepted += 1
            if let missing = mapped.withoutValues(entity) {
              try note(missing, table, &report.rejects)
            }
            entities[mapped.part].expected += 1
            entities[mapped.part].written[keyPath: count] += 1
            if referenced.contains(table.table.name) {
              try records.insert(mapped.identity, part: mapped.part)
            }
          }
        }
      }
    }
    report.tables.append(balance)
    for var entity in entities {
      entity.found = entity.expected
      report.entities.append(entity)
    }
  }

  /// Returns the count that a run would have increased.
  private func count(
    of mapped: MappedRow, _ entry: LedgerEntry?, _ entity: BoundEntity, in snapshot: ReadTransaction
  ) throws -> WritableKeyPath<WriteCounts, Int64> {
    guard let entry else { return \.new }
    if entry.hash == mapped.hash { return \.unchanged }
    return try snapshot.row(entry.object, of: entity.layout) == nil ? \.deleted : \.changed
  }

  private func note(
    _ rejected: RejectedRow, _ table: BoundTable, _ counts: inout [String: Int64]
  ) throws {
    let row = RejectLog.text(of: rejected.row, table.columns)
    for reject in rejected.rejects {
      counts[reject.code, default: 0] += 1
      try self.reject(
        ImportReject(
          reject, entity: table.parts[rejected.part].mapping.entity, table: table.table.name,
          key: rejected.key, row: row))
    }
  }

  // MARK: Links

  private func plan(
    _ link: BoundLink, _ counts: inout [String: Int64]
  ) throws -> ImportReport.Relationship {
    var rejects: [String: Int64] = [:]
    let balance = try LinkPlan(link: link, records: records, context: context) { planned in
      rejects[planned.code, default: 0] += 1
      try reject(planned)
    }.run()
    counts.merge(rejects, uniquingKeysWith: +)
    return balance
  }
}

extension ImportReject {
  /// Creates a reject that a run would have.
  init(_ reject: Reject, entity: String, table: String, key: [Cell], row: String) {
    self.init(
      number: nil, table: table, key: RowIdentity.excerpt(of: key), entity: entity,
      property: reject.property, code: reject.code, message: reject.message, row: row)
  }
}
