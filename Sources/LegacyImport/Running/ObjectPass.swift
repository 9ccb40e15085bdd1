import EntityModel
import EntityStore

/// Writes the rows of a table as records, chunk by chunk. Each chunk commits its records, what the
/// ledger says of them, its rejects and how far it has come.
struct ObjectPass {
  private let context: ImportContext
  private let write: ChunkedWrite<ImportFrontier>

  init(_ context: ImportContext, _ write: ChunkedWrite<ImportFrontier>) {
    self.context = context
    self.write = write
  }

  /// Goes on where the frontier stands, to the end of the last table.
  func run(_ frontier: inout ImportFrontier) throws {
    while case .objects(let number, let position) = frontier.stage,
      number < context.bound.tables.count
    {
      let table = context.bound.tables[number]
      try walk(table, number, after: position, &frontier)
      frontier.stage = .objects(table: number + 1, after: nil)
    }
    frontier.stage = .links(0, after: nil)
  }

  private func walk(
    _ table: BoundTable, _ number: Int, after position: RowPosition?,
    _ frontier: inout ImportFrontier
  ) throws {
    let walk = try RowWalk(table, after: position, context)
    let total = try context.database.count(table.table)
    var done: Int64 = 0
    let ahead = ReadAhead { try walk.nextChunk() }
    var rows: ArraySlice<WalkedRow> = []
    var isRead = false
    while true {
      try context.checkCancellation()
      // What there was no time for goes with what comes next: each commit waits for the disk.
      if !isRead, rows.count < Limits.chunkRowsMax {
        let chunk = try ahead.next()
        isRead = chunk.isEmpty
        rows += chunk
      }
      if rows.isEmpty { return }
      let written = try commit(rows, of: table, number, &frontier)
      rows = rows.dropFirst(written)
      done += Int64(written)
      context.progress(
        ImportProgress(stage: .objects, name: table.table.name, done: done, total: total))
    }
  }

  /// - Parameter frontier: Becomes the one that was committed.
  /// - Returns: For how many of the rows there was time; one at least.
  private func commit(
    _ rows: ArraySlice<WalkedRow>, of table: BoundTable, _ number: Int,
    _ frontier: inout ImportFrontier
  ) throws -> Int {
    let before = frontier
    let (count, after) = try context.target.write { transaction in
      var frontier = before
      let first = context.bound.number(of: 0, in: number)
      var counts = Array(frontier.counts[first..<first + table.parts.count])
      let writer = try RowWriter(table, context, in: transaction)
      let deadline = ContinuousClock.now + EntityStore.Limits.chunkDuration
      var count = 0
      for row in rows {
        if let (part, outcome) = try writer.write(row) { counts[part].add(outcome) }
        count += 1
        if ContinuousClock.now >= deadline { break }
      }
      frontier.counts.replaceSubrange(first..<first + table.parts.count, with: counts)
      if let position = rows.prefix(count).last(where: { $0.position != nil })?.position {
        frontier.stage = .objects(table: number, after: position)
      }
      try write.save(.init(frontier: frontier, rows: Int64(count), chunks: 0), in: transaction)
      return (count, frontier)
    }
    frontier = after
    return count
  }
}

extension WriteCounts {
  fileprivate mutating func add(_ outcome: RowWriter.Outcome) {
    switch outcome {
    case .new: new += 1
    case .changed: changed += 1
    case .unchanged: unchanged += 1
    case .deleted: deleted += 1
    }
  }
}

/// Writes single rows within a transaction.
struct RowWriter {
  /// As `WriteCounts` has them.
  enum Outcome { case new, changed, unchanged, deleted }

  private let table: BoundTable
  private let context: ImportContext
  private let transaction: WriteTransaction
  private let ledger: ImportLedger
  private let log: RejectLog
  /// By part.
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
    guard case .row(_, let outcome) = row else { return nil }
    switch outcome {
    case .skipped: break
    case .rejected(let rejected): try log.add(rejected, of: table)
    case .accepted(let mapped):
      do {
        return (mapped.part, try write(mapped))
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
      try ledger.note(
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
    try ledger.renote(
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

  /// A record that is there already and has the values by which the mapping matches.
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

  /// What the mapping does not name stays as it is.
  private func update(_ stored: StoredRow, to mapped: MappedRow, of entity: BoundEntity) throws {
    let old = try stored.values()
    var row = old
    for (number, position) in entity.positions.enumerated() {
      row[position] = mapped.values[number]
    }
    if row != old { try transaction.update(row, id: stored.id, in: layouts[mapped.part]) }
  }
}

extension BoundMapping {
  /// The number of an entity mapping, counted over all tables.
  func number(of part: Int, in table: Int) -> Int {
    tables[..<table].reduce(0) { $0 + $1.parts.count } + part
  }
}

extension Reject {
  /// What the store refuses of one row; `nil` for what concerns more than it.
  init?(refusal error: StoreError) {
    switch error.code {
    case .uniqueViolation: self.init(.notUnique, error.property, error.description)
    case .validation, .deletionDenied, .missingRecord:
      self.init(.invalid, error.property, error.description)
    default: return nil
    }
  }
}
