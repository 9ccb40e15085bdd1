import EntityModel
import EntityStore

/// Writes single rows within a transaction.
struct RowWriter {
  /// The outcomes that `WriteCounts` counts.
  enum Outcome { case new, changed, unchanged, deleted }

  private let table: BoundTable
  private let context: ImportContext
  private let transaction: WriteTransaction
  private let ledger: ImportLedger
  private let log: RejectLog
  /// The layouts of the entities, by part.
  private let layouts: [EntityLayout]

  init(_ table: BoundTable, _ context: ImportContext, in transaction: WriteTransaction) throws {
    self.table = table
    self.context = context
    self.transaction = transaction
    layouts = try table.parts.map { try $0.layout(in: transaction) }
    ledger = try ImportLedger(in: transaction)
    log = RejectLog(source: context.source, run: context.run, transaction: transaction)
  }

  /// - Returns: What became of a record, and of which part it is; `nil` for a row that has none.
  func write(_ row: WalkedRow) throws -> (part: Int, Outcome)? {
    switch row.outcome {
    case .skipped: break
    case .rejected(let rejected): try log.add(rejected, of: table)
    case .accepted(let mapped):
      do {
        let outcome = try write(mapped)
        if let missing = mapped.withoutValues(table.parts[mapped.part]) {
          try log.add(missing, of: table)
        }
        return (mapped.part, outcome)
      } catch let reject as Reject {
        try log.add(mapped.rejected(for: reject), of: table)
      } catch let error as StoreError {
        guard let reject = Reject(refusal: error) else { throw error }
        try log.add(mapped.rejected(for: reject), of: table)
      }
    }
    return nil
  }

  private func write(_ mapped: MappedRow) throws -> Outcome {
    let entity = table.parts[mapped.part]
    guard let entry = try ledger.entry(of: mapped.identity) else {
      let object = try insert(mapped, as: entity)
      try ledger.add(
        mapped, table: table.table.name, source: context.source, object: object, run: context.run,
        isMatching: !entity.mapping.match.isEmpty, in: transaction)
      return .new
    }
    if entry.hash == mapped.hash { return .unchanged }
    guard entry.entity == entity.mapping.entity else {
      throw Reject.otherEntity(entry.objectID)
    }
    guard let stored = try transaction.row(entry.object, of: layouts[mapped.part]) else {
      return .deleted
    }
    try update(stored, to: mapped, of: entity)
    try ledger.update(
      entry, hash: mapped.hash, run: context.run, links: entry.links, in: transaction)
    return .changed
  }

  private func insert(_ mapped: MappedRow, as entity: BoundEntity) throws -> ObjectID {
    if let known = try matching(mapped, entity) { return known }
    var row = layouts[mapped.part].newRow()
    for (number, position) in entity.positions.enumerated() {
      row[position] = mapped.values[number]
    }
    let id = try transaction.insert(row, into: layouts[mapped.part])
    return ObjectID(entity: entity.mapping.entity, number: id)
  }

  /// Returns an existing record with the values by which the mapping matches.
  private func matching(_ mapped: MappedRow, _ entity: BoundEntity) throws -> ObjectID? {
    if entity.mapping.match.isEmpty { return nil }
    let layout = layouts[mapped.part]
    let match = try layout.uniqueIndex(on: entity.mapping.match)
    var values: [Int: Value] = [:]
    for (number, position) in entity.positions.enumerated() {
      values[position] = mapped.values[number]
    }
    guard
      let id = try transaction.identifier(
        in: layout, index: match, by: { values[$0] ?? .null }),
      let stored = try transaction.row(id, of: layout)
    else { return nil }
    let object = ObjectID(entity: entity.mapping.entity, number: id)
    if try ledger.isMatched(object) {
      throw Reject.matched(object, entity.mapping.match.joined(separator: ", "))
    }
    try update(stored, to: mapped, of: entity)
    return object
  }

  /// Updates the mapped attributes of a record; all others keep their values.
  private func update(_ stored: StoredRow, to mapped: MappedRow, of entity: BoundEntity) throws {
    let old = try stored.values()
    var row = old
    for (number, position) in entity.positions.enumerated() where mapped.missing[number] == nil {
      row[position] = mapped.values[number]
    }
    if row != old { try transaction.update(row, id: stored.id, in: layouts[mapped.part]) }
  }
}

extension Reject {
  /// Creates the reject for a row that the store refuses; `nil` for an error that concerns more
  /// than the row.
  init?(refusal error: StoreError) {
    switch error.code {
    case .uniqueViolation: self.init(.notUnique, error.property, error.description)
    case .validation, .deletionDenied, .missingRecord:
      self.init(.invalid, error.property, error.description)
    default: return nil
    }
  }
}
