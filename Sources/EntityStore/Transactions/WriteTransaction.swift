public import EntityModel
public import Foundation
package import LMDB

/// A transaction that can read, like a read transaction, and change records.
///
/// Its own reads see the changes at once; other transactions see them after the commit. If the
/// closure throws, none of the changes is stored. An `insert`, `update`, `upsert` or `delete` that
/// fails has changed nothing, so the closure may catch the error and continue.
public final class WriteTransaction: ReadTransaction {
  /// The author of the changes, as the caller of `Store.write` gave it.
  public let author: String?
  /// The time of this transaction, the same for all its changes.
  public let now: Date
  /// True while changes are recorded in the change history. While it is false, the history records
  /// only that something of the entity has changed, and live results are fetched again.
  // SAFETY (for all `@exclusivity(unchecked)` properties): a write transaction belongs to one
  // thread, and no access to a property runs code that accesses the property again. The checks
  // would take a tenth of the time of a change.
  @exclusivity(unchecked) public var recordsHistory = true
  /// True while values must satisfy the rules of their attributes: range, length and pattern.
  /// Required values and value kinds are checked in any case.
  @exclusivity(unchecked) package var keepsRules = true

  /// True in a transaction that builds an index or an attribute (see `EntityBuild`). Its changes
  /// are not visible to readers yet, so they go neither to the change history nor to the side log.
  @exclusivity(unchecked) package var isBuilding = false

  package let writing: TreeWriter
  package let scratch: WriterScratch
  /// The buffered changes, by entity name.
  @exclusivity(unchecked) private var collected: [String: EntityChanges] = [:]
  /// The entity of the last change. Most writes change several records of one entity in a row.
  @exclusivity(unchecked) private var last: EntityChanges?
  /// Ids that are reserved for new records, by entity name.
  @exclusivity(unchecked) private var reserved: [String: Range<Int64>] = [:]
  private let catalogTree: Tree
  private let budget: CommitBudget
  /// The chunks of long work that have asked for room for another one.
  @exclusivity(unchecked) private var chunks = 0
  /// True if the transaction belongs to long work.
  var hasChunks: Bool { chunks > 0 }

  package init(
    _ transaction: TreeWriter, catalog: Catalog, catalogTree: Tree,
    scratch: WriterScratch, author: String?, now: Date, budget: CommitBudget
  ) {
    writing = transaction
    self.budget = budget
    self.catalogTree = catalogTree
    self.scratch = scratch
    self.author = author
    self.now = now
    scratch.history.begin(author: author, at: now)
    scratch.step += 1
    scratch.copied = nil
    super.init(transaction, catalog: catalog)
  }

  /// Inserts a record.
  ///
  /// - Parameter values: The values by attribute name; any other attribute gets its default.
  /// - Returns: The identity of the record. Its id was never used by another record of the entity.
  /// - Throws: `unknownEntity`, `unknownAttribute`, `validation`, `uniqueViolation`, a storage
  ///   failure.
  @discardableResult
  public func insert(_ entity: String, _ values: [String: Value]) throws -> ObjectID {
    let layout = try catalog.entity(entity)
    var row = layout.newRow()
    for (name, value) in values { row[try layout.position(of: name)] = value }
    return ObjectID(entity: entity, number: try insert(row, into: layout))
  }

  /// Reads a record, calls the closure to change it, and writes it if it changed.
  ///
  /// - Throws: `missingRecord`; the error of the closure; `invalidRequest` if the closure assigns a
  ///   record of another identity; else as `insert`.
  public func update(_ id: ObjectID, _ change: (inout Record) throws -> Void) throws {
    guard var record = try get(id) else { throw StoreError.missing(id) }
    let before = record.values
    try change(&record)
    guard record.id == id else { throw StoreError.otherRecord(record.id, insteadOf: id) }
    if record.values != before {
      try update(record.values, id: id.number, in: record.layout)
    }
  }

  /// Finds the record that has these values in a unique index on exactly `attributes` and changes
  /// the given values; inserts a record if there is none.
  ///
  /// - Returns: The identity of the record.
  /// - Throws: `invalidRequest` if there is no such index; else as `insert`.
  @discardableResult
  public func upsert(
    _ entity: String, _ values: [String: Value], by attributes: [String]
  ) throws -> ObjectID {
    let layout = try catalog.entity(entity)
    var keys: [String: Value] = [:]
    for name in attributes {
      // The default applies as in an insert, so that a second upsert finds the record of the first.
      let attribute = layout.description.attributes[try layout.position(of: name)]
      keys[name] = values[name] ?? attribute.defaultValue
    }
    guard let id = try objectID(entity, by: keys) else { return try insert(entity, values) }
    try update(id) { record in
      for (name, value) in values { try record.set(name, to: value) }
    }
    return id
  }

  // MARK: Rows by position

  /// Inserts a row and returns the id of the new record.
  ///
  /// - Parameter row: One value per attribute of the entity, by position.
  package func insert(_ row: [Value], into entity: EntityLayout) throws -> Int64 {
    if entity.references.isEmpty { return try insertResolved(row, into: entity) }
    var row = row
    try resolveReferences(of: &row, id: try nextID(of: entity), old: nil, in: entity)
    return try insertResolved(row, into: entity)
  }

  /// Inserts a row whose references have been validated.
  func insertResolved(_ row: [Value], into entity: EntityLayout) throws -> Int64 {
    let id = try nextID(of: entity)
    try put(row, id: id, old: nil, in: entity)
    try changes(of: entity).nextID = id + 1
    return id
  }

  /// Inserts a row that is not encoded again. Only the values that were set in it are validated.
  ///
  /// - Throws: As `insert` of a row.
  package func insert(_ row: RowCopy, into entity: EntityLayout) throws -> Int64 {
    var isFilled = entity.references.isEmpty
    for position in try changes(of: entity).rules.unfilled where row.isNull(position) {
      isFilled = false
    }
    // See the insert of changes.
    guard isFilled else { return try insert(row.values(), into: entity) }
    let id = try nextID(of: entity)
    try check(row, id: id, in: entity)
    try row.withBytes { try putEncoded($0, id: id, old: nil, in: entity) }
    try changes(of: entity).nextID = id + 1
    return id
  }

  /// Inserts the row of a builder, of which only the values that were set are validated.
  ///
  /// - Throws: As `insert` of a row.
  package func insert(_ row: borrowing RowBuilder, into entity: EntityLayout) throws -> Int64 {
    var isFilled = entity.references.isEmpty
    for position in try changes(of: entity).rules.unfilled where row.isNull(position) {
      isFilled = false
    }
    // See the insert of changes.
    guard isFilled else { return try insert(row.row().values(), into: entity) }
    let id = try nextID(of: entity)
    let marks = row.marks
    row.write(to: &scratch.record)
    try scratch.record.withUnsafeBytes { bytes in
      if let view = entity.record.view(of: bytes) { try check(view, marks, id: id, in: entity) }
      try putEncoded(bytes, id: id, old: nil, in: entity)
    }
    try changes(of: entity).nextID = id + 1
    return id
  }

  package func update(_ row: [Value], id: Int64, in entity: EntityLayout) throws {
    guard let old = try view(of: id, in: entity) else {
      throw StoreError.missing(ObjectID(entity: entity.name, number: id))
    }
    try update(row, id: id, old: old, in: entity)
  }

  /// Replaces the values of a record.
  ///
  /// - Parameter old: The record as it is stored now.
  func update(
    _ row: [Value], id: Int64, old: RecordView, in entity: EntityLayout
  ) throws {
    if entity.references.isEmpty { return try put(row, id: id, old: old, in: entity) }
    var row = row
    try resolveReferences(of: &row, id: id, old: old, in: entity)
    try put(row, id: id, old: old, in: entity)
  }

  /// Writes a row whose references have been validated.
  ///
  /// - Throws: `validation` if a value violates a rule of its attribute.
  func put(
    _ row: [Value], id: Int64, old: RecordView?, in entity: EntityLayout
  ) throws {
    let validator = try changes(of: entity).rules.validator
    if let (position, failure) = validator.failure(in: row, keepsRules: keepsRules) {
      throw StoreError.validation(failure, at: position, of: id, in: entity)
    }
    entity.encode(row, into: &scratch.record)
    try putEncoded(id: id, old: old, in: entity)
  }

  /// Writes the encoded record in `scratch`.
  ///
  /// - Parameter marks: The marks (see `RowChanges`) of the positions that change.
  func putEncoded(
    id: Int64, old: RecordView?, marks: UInt64 = .max, in entity: EntityLayout
  ) throws {
    try scratch.record.withUnsafeBytes {
      try putEncoded($0, id: id, old: old, marks: marks, in: entity)
    }
  }

  func putEncoded(
    _ record: UnsafeRawBufferPointer, id: Int64, old: RecordView?, marks: UInt64 = .max,
    in entity: EntityLayout
  ) throws {
    guard record.count <= StoreLimits.recordBytesMax else {
      throw StoreError(
        .validation, "a record is too large",
        [("entity", entity.name), ("bytes", String(record.count))],
        advice: "keep it under \(StoreLimits.recordBytesMax) bytes")
    }
    try replace(old: old, new: record, id: id, marks: marks, in: entity)
  }

  /// Reserves ids for records that `insert(_:as:into:)` writes before the transaction ends.
  /// References may lead to them from now on, so that new records can be linked in a circle.
  package func reserve(_ count: Int, of entity: EntityLayout) throws -> Range<Int64> {
    let first = try nextID(of: entity)
    let end = first + Int64(count)
    try changes(of: entity).nextID = end
    reserved[entity.name] = (reserved[entity.name]?.lowerBound ?? first)..<end
    return first..<end
  }

  func isReserved(_ id: Int64, of entity: EntityLayout) -> Bool {
    reserved[entity.name]?.contains(id) ?? false
  }

  /// Inserts a row under a reserved id, or under the id that the record had before it was deleted.
  package func insert(_ row: [Value], as id: Int64, into entity: EntityLayout) throws {
    var row = row
    try resolveReferences(of: &row, id: id, old: nil, in: entity)
    try put(row, id: id, old: nil, in: entity)
  }

  func nextID(of entity: EntityLayout) throws -> Int64 {
    if let next = try changes(of: entity).nextID { return next }
    return try CatalogTree.readNextID(of: entity, catalogTree, in: transaction)
  }

  /// Returns true if the transaction should take another chunk of long work before its commit.
  ///
  /// Applies buffered index changes if they are many.
  ///
  /// - Parameter dirtyPagesMax: The most pages that the commit should write, with those of another
  ///   chunk that changes as much as the chunks so far did on average.
  /// - Complexity: O(*i*) for *i* indexes of the changed entities, and the time of those changes.
  package func hasRoomForChunk(
    dirtyPagesMax: Int = StoreLimits.dirtyPagesMax
  ) throws -> Bool {
    chunks += 1
    for changes in collected.values { try changes.applyMany(in: writing) }
    let pages = try dirtyPages(afterChanges: Double(chunks + 1) / Double(chunks))
    return budget.hasRoom(dirtyPages: pages, limit: dirtyPagesMax)
  }

  /// Returns an upper estimate of the pages that the commit would write.
  ///
  /// - Parameter multiple: The changes up to the commit, as a multiple of those so far.
  func dirtyPages(afterChanges multiple: Double = 1) throws -> Int {
    try collected.values.reduce(0) {
      try $0 + $1.dirtyPages(afterChanges: multiple, in: writing)
    }
  }

  /// Counts index entries that were appended without a change of a record, for
  /// ``hasRoomForChunk()``.
  package func countAppended(bytes: Int, to entity: EntityLayout) throws {
    try changes(of: entity).dirtyRecords.countRecord(old: nil, bytes: bytes)
  }

  // MARK: Completion

  override func prepareToRead(entityNamed name: String) throws {
    try collected[name]?.apply(in: writing)
  }

  /// Applies the buffered index changes, stores the id counters and writes the change history. The
  /// commit follows.
  package func finish() throws {
    try finishEntities()
    guard let tree = catalog.historyTree else { return }
    try scratch.history.write(to: tree, isSealed: catalog.isSealed, in: writing)
    guard let sequence = scratch.history.sequence else { return }
    let pruning = HistoryPruning(
      HistoryTree(tree: tree, transaction: writing), retention: catalog.schema.historyRetention,
      now: now, newest: sequence)
    try pruning.run(
      in: writing, after: scratch.history.partsWritten, needed: neededHistory(oldest:))
  }

  /// Returns the number of the last transaction that no consumer needs.
  ///
  /// - Parameter oldest: The oldest transaction that is stored. A consumer that has not read the
  ///   one before it has expired and needs nothing.
  private func neededHistory(oldest: Int64) throws -> Int64 {
    var needed = Int64.max
    guard let entity = catalog.entities[HistoryTree.consumerEntity] else { return needed }
    let position = try entity.position(of: "sequence")
    try eachRow(of: entity) { row in
      if let sequence = row.int64(position), sequence >= oldest - 1 {
        needed = min(needed, sequence)
      }
      return true
    }
    return needed
  }

  package func finishEntities() throws {
    for name in collected.keys.sorted() {
      guard let changes = collected[name] else { continue }
      try changes.apply(in: writing)
      guard let next = changes.nextID else { continue }
      let key = CatalogTree.nextIDKey(entity: changes.entity.description.id)
      let bytes = withUnsafeBytes(of: next.littleEndian) { Array($0) }
      try writing.put(catalogTree, key: key, value: bytes)
    }
  }

  /// Leaves the memory of the buffers to the next transaction. Call it after `finish`; only the
  /// names of the changed entities are read then.
  func recycleChanges() {
    scratch.recycle(collected.values, of: catalog)
    last = nil
  }

  /// Returns true if the transaction has changed records of the entity.
  func hasChanged(entityNamed name: String) -> Bool { collected[name] != nil }

  override var canWrite: Bool { true }

  override var step: Int { scratch.step }
  override func noteCopy(of view: RecordView, id: Int64, in entity: EntityLayout) {
    scratch.copied = CopiedRecord(view, id: id, of: entity, at: writing.writes)
  }

  override var ownHistorySequence: Int64? { scratch.history.sequence }

  override func hasChanged(_ entity: EntityLayout) -> Bool { collected[entity.name] != nil }

  package func changes(of entity: EntityLayout) throws -> EntityChanges {
    if let last, last.entity === entity { return last }
    let changes: EntityChanges
    if let known = collected[entity.name] {
      changes = known
    } else if let emptied = scratch.emptiedChanges(of: entity, in: catalog) {
      changes = emptied
      collected[entity.name] = changes
    } else {
      // Rows encoded for another schema revision would be missing from its new indexes.
      guard try catalog.entity(entity.name) === entity else {
        throw StoreError.schemaChanged([("entity", entity.name)])
      }
      let rules = try scratch.rules(of: entity, revision: catalog.revision)
      changes = EntityChanges(entity, rules)
      collected[entity.name] = changes
    }
    try writing.pinCursor(in: entity.tree)
    last = changes
    return changes
  }
}

extension StoreError {
  /// The error of a write whose rows were made for an earlier schema.
  package static func schemaChanged(_ context: [(String, String)] = []) -> StoreError {
    StoreError(
      .conflict, "the schema was changed by another process", context, advice: "try again")
  }

  public static func missing(_ id: ObjectID) -> StoreError {
    StoreError(.missingRecord, "there is no such record", [("record", id.description)])
  }

  static func validation(
    _ failure: ValidationFailure, at position: Int, of id: Int64, in entity: EntityLayout
  ) -> StoreError {
    validation(
      failure, entity: entity.name, attribute: entity.description.attributes[position].name, id: id)
  }

  package static func otherRecord(_ other: ObjectID, insteadOf id: ObjectID) -> StoreError {
    StoreError(
      .invalidRequest, "an update replaced the record by another one",
      [("record", id.description), ("other", other.description)],
      advice: "set its values instead")
  }
}
