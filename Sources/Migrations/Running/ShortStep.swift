import EntityModel
import EntityStore

/// A step that scans few records or none, within a transaction that it shares with other steps.
struct ShortStep {
  let work: StepWork
  /// The author under which the step writes.
  let author: String
  let codes: [MigrationCode]

  /// Runs the step.
  ///
  /// - Throws: The errors of the records; the transaction must then be aborted.
  func run(in transaction: SchemaTransaction) throws {
    if let assertion = work.assertion {
      return try transaction.scope(author: nil) { try assertion.check(in: $0) }
    }
    if work.isNone { return transaction.set(work.after) }
    if let records = work.records {
      transaction.set(work.interim)
      try transaction.scope(author: author) { scope in
        var pass = try RecordPass(
          records, work, codes: codes, startedAt: scope.now, in: scope)
        var last = Int64.min
        var rows: Int64 = 0
        _ = try pass.advance(after: &last, rows: &rows) { true }
      }
    }
    if !work.indexes.isEmpty {
      transaction.set(
        work.interim, build: EntityBuild(entityID: work.entityID, indexes: work.indexes))
      try transaction.scope(author: author) { scope in
        for index in work.indexes { try build(index, in: scope) }
      }
    }
    transaction.set(work.after)
  }

  private func build(_ index: IndexDescription, in scope: WriteTransaction) throws {
    let entity = try scope.catalog.entity(work.entityName)
    var construction = try IndexConstruction(index, of: entity, in: scope)
    var keys = SortedKeyList()
    var last = Int64.min
    var rows: Int64 = 0
    let source = IndexKeys(index: construction.index, entity: entity)
    _ = try source.eachKey(
      after: &last, rows: &rows, in: scope, while: { true }
    ) { keys.add($0) }
    keys.sort()
    var lastKey: [UInt8]?
    _ = try construction.append(&keys, after: &lastKey, rows: &rows) { true }
    // Deleted duplicates are added to the side log.
    repeat {
      _ = try construction.catchUp(work.rule, rows: &rows) { true }
      try scope.finishEntities()
    } while try !construction.isCaughtUp
  }
}

/// Keys in memory.
struct SortedKeyList: SortedKeys {
  private var keys: [[UInt8]] = []
  private var next = 0

  mutating func add(_ key: UnsafeRawBufferPointer) { keys.append(Array(key)) }

  mutating func sort() { keys.sort { $0.lexicographicallyPrecedes($1) } }

  mutating func withNext<R>(_ body: (UnsafeRawBufferPointer?) throws -> R) throws -> R {
    guard next < keys.count else { return try body(nil) }
    defer { next += 1 }
    return try keys[next].withUnsafeBytes { try body($0) }
  }
}

extension RowAssertion {
  /// Checks the number of records that match.
  ///
  /// - Throws: `validation` if another number of records matches.
  func check(in transaction: ReadTransaction) throws {
    let found = try transaction.count(FetchRequest(entityName: entity, predicate: predicate))
    if count.contains(found) { return }
    var context = [("entity", entity)]
    if let predicate { context.append(("where", "\(predicate)")) }
    context += [("expected", expectation), ("found", String(found))]
    if let message { context.append(("why", message)) }
    throw StoreError(
      .validation, "a precondition of a migration does not hold", context,
      advice: "see to the records, then run `mooring migrate up` again")
  }
}
