public import EntityModel
public import Foundation
package import LMDB

/// Everything a read transaction can do, and changes.
///
/// Changes are seen at once by this transaction and by nobody else until the commit. If the
/// closure throws, none of them happen. A failed `insert`, `update`, `upsert` or `delete` has
/// changed nothing, so the closure may catch the error and go on.
public final class WriteTransaction: ReadTransaction {
  /// Who writes, as the caller of `Store.write` said.
  public let author: String?
  /// The time of this transaction, the same for all that it writes.
  public let now: Date
  /// Whether what is changed from now on goes to the history. Where it does not, the history says
  /// only that something of the entity has changed, so that live results are fetched anew.
  // SAFETY (of all that is unchecked): a write transaction belongs to one thread, and no access to
  // a property calls what could come back to it. The checks would be a tenth of what a change
  // costs.
  @exclusivity(unchecked) public var recordsHistory = true
  /// Whether values must keep the rules of their attributes: range, length and pattern. That there
  /// is a value, and of the right kind, is always required.
  @exclusivity(unchecked) package var keepsRules = true

  /// Whether this is who builds what `EntityBuild` tells of: what it changes is seen by nobody yet,
  /// so that neither the history nor its own notes get it.
  @exclusivity(unchecked) package var isBuilding = false

  package let writing: TreeWriter
  package let scratch: WriterScratch
  /// By entity name.
  @exclusivity(unchecked) private var collected: [String: EntityChanges] = [:]
  /// Writes come in runs of one entity.
  @exclusivity(unchecked) private var last: EntityChanges?
  /// Numbers that records of an entity are about to get.
  @exclusivity(unchecked) private var reserved: [String: Range<Int64>] = [:]
  private let catalogTree: Tree

  package init(
    _ transaction: TreeWriter, catalog: Catalog, catalogTree: Tree,
    scratch: WriterScratch, author: String?, now: Date
  ) {
    writing = transaction
    self.catalogTree = catalogTree
    self.scratch = scratch
    self.author = author
    self.now = now
    scratch.history.begin(author: author, at: now)
    scratch.step += 1
    super.init(transaction, catalog: catalog)
  }

  /// Writes a new record.
  ///
  /// - Parameter values: By attribute name; what is not named gets the attribute's default.
  /// - Returns: Its identity, which no record of the entity has had before.
  /// - Throws: `unknownEntity`, `unknownAttribute`, `validation`, `uniqueViolation`, `storage`.
  @discardableResult
  public func insert(_ entity: String, _ values: [String: Value]) throws -> ObjectID {
    let layout = try catalog.entity(entity)
    var row = layout.newRow()
    for (name, value) in values { row[try layout.position(of: name)] = value }
    return ObjectID(entity: entity, number: try insert(row, into: layout))
  }

  /// Reads a record, lets the closure change it, and writes it if it changed.
  ///
  /// - Throws: `missingRecord`; what the closure throws; `invalidRequest` if the closure assigns
  ///   a record of another identity; else as `insert`.
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
  /// the values named; inserts a record if there is none.
  ///
  /// - Returns: Its identity.
  /// - Throws: `invalidRequest` if there is no such index; else as `insert`.
  @discardableResult
  public func upsert(
    _ entity: String, _ values: [String: Value], by attributes: [String]
  ) throws -> ObjectID {
    let layout = try catalog.entity(entity)
    var keys: [String: Value] = [:]
    for name in attributes {
      // As an insert would have it, so that a second upsert finds what the first has made.
      let attribute = layout.description.attributes[try layout.position(of: name)]
      keys[name] = values[name] ?? attribute.defaultValue
    }
    guard let id = try objectID(entity, by: keys) else { return try insert(entity, values) }
    try update(id) { record in
      for (name, value) in values { try record.set(name, to: value) }
    }
    return id
  }

  /// Removes a record together with every index entry and every link that points at it; what else
  /// becomes of the linked records, the delete rules of its relationships say.
  ///
  /// - Returns: Whether there was one.
  /// - Throws: `deletionDenied` if a rule keeps a record or one would be without a link that it
  ///   must have; else as `insert`.
  @discardableResult
  public func delete(_ id: ObjectID) throws -> Bool {
    let entity = try catalog.entity(id.entity)
    guard let old = try view(of: id.number, in: entity) else { return false }
    try Deletion.run(of: id.number, old, in: entity, self)
    return true
  }

  // MARK: Rows by position

  /// - Parameter row: One value per attribute of the entity, by position.
  package func insert(_ row: [Value], into entity: EntityLayout) throws -> Int64 {
    if entity.references.isEmpty { return try insertSettled(row, into: entity) }
    var row = row
    try settleReferences(of: &row, id: try nextID(of: entity), old: nil, in: entity)
    return try insertSettled(row, into: entity)
  }

  /// Inserts a row whose references are right.
  func insertSettled(_ row: [Value], into entity: EntityLayout) throws -> Int64 {
    let id = try nextID(of: entity)
    try put(row, id: id, old: nil, in: entity)
    try changes(of: entity).nextID = id + 1
    return id
  }

  package func update(_ row: [Value], id: Int64, in entity: EntityLayout) throws {
    guard let old = try view(of: id, in: entity) else {
      throw StoreError.missing(ObjectID(entity: entity.name, number: id))
    }
    try update(row, id: id, old: old, in: entity)
  }

  /// - Parameter old: As it is stored now.
  func update(
    _ row: [Value], id: Int64, old: RecordView, in entity: EntityLayout
  ) throws {
    if entity.references.isEmpty { return try put(row, id: id, old: old, in: entity) }
    var row = row
    try settleReferences(of: &row, id: id, old: old, in: entity)
    try put(row, id: id, old: old, in: entity)
  }

  /// Writes a row whose references are right, if its values keep the rules of their attributes.
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

  /// Writes the record in `scratch`.
  /// - Parameter marks: Of the positions that change, as `RowChanges` has them.
  func putEncoded(
    id: Int64, old: RecordView?, marks: UInt64 = .max, in entity: EntityLayout
  ) throws {
    guard scratch.record.count <= Limits.recordBytesMax else {
      throw StoreError(
        .validation, "a record is too large",
        [("entity", entity.name), ("bytes", String(scratch.record.count))],
        advice: "keep it under \(Limits.recordBytesMax) bytes")
    }
    try scratch.record.withUnsafeBytes { bytes in
      try replace(old: old, new: bytes, id: id, marks: marks, in: entity)
    }
  }

  /// Takes numbers for records that `insert(_:as:into:)` writes before the transaction ends. From
  /// now on references may lead to them, so that new records can be linked in a circle.
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

  /// Inserts a row under a number that is reserved, or that the record had before it was deleted.
  package func insert(_ row: [Value], as id: Int64, into entity: EntityLayout) throws {
    var row = row
    try settleReferences(of: &row, id: id, old: nil, in: entity)
    try put(row, id: id, old: nil, in: entity)
  }

  func nextID(of entity: EntityLayout) throws -> Int64 {
    if let next = try changes(of: entity).nextID { return next }
    return try CatalogTree.readNextID(of: entity, catalogTree, in: transaction)
  }

  // MARK: Completion

  override func prepareToRead(entityNamed name: String) throws {
    try collected[name]?.apply(in: writing)
  }

  /// Brings the indexes up to date, stores the id counters and writes the history. The commit
  /// follows.
  package func finish() throws {
    try finishEntities()
    guard let tree = catalog.historyTree else { return }
    try scratch.history.write(to: tree, in: writing)
    guard let sequence = scratch.history.sequence else { return }
    try HistoryPruning.run(
      in: self, after: scratch.history.partsWritten, newest: sequence)
  }

  package func finishEntities() throws {
    for name in collected.keys.sorted() {
      guard let changes = collected[name] else { continue }
      try changes.apply(in: writing)
      guard let next = changes.nextID else { continue }
      let key = CatalogTree.nextIDKey(entity: changes.entity.description.id)
      try key.withUnsafeBytes { key in
        try withUnsafeBytes(of: next.littleEndian) {
          try writing.put(catalogTree, key: key, value: $0)
        }
      }
    }
  }

  /// Whether it has changed records of an entity.
  func hasChanged(entityNamed name: String) -> Bool { collected[name] != nil }

  override var canWrite: Bool { true }

  override var step: Int { scratch.step }

  override var ownHistorySequence: Int64? { scratch.history.sequence }

  override func hasChanged(_ entity: EntityLayout) -> Bool { collected[entity.name] != nil }

  package func changes(of entity: EntityLayout) throws -> EntityChanges {
    if let last, last.entity === entity { return last }
    let changes: EntityChanges
    if let known = collected[entity.name] {
      changes = known
    } else {
      // Rows made for another revision would miss its new indexes.
      guard try catalog.entity(entity.name) === entity else {
        throw StoreError(
          .schemaMismatch, "the schema was changed meanwhile", [("entity", entity.name)],
          advice: "try again")
      }
      let rules = try scratch.rules(of: entity, revision: catalog.revision)
      changes = EntityChanges(entity, rules)
      collected[entity.name] = changes
    }
    try writing.keepPlace(in: entity.tree)
    last = changes
    return changes
  }
}

/// What a write transaction has collected for one entity. It belongs to the transaction.
package final class EntityChanges {
  let entity: EntityLayout
  package let rules: RowRules
  /// By index: changes that are not applied yet.
  let buffers: [IndexBuffer]
  /// By index under construction: likewise.
  let notes: [IndexBuffer]
  /// Changed records that a build wants to know of.
  // SAFETY (of what is unchecked): as in the transaction.
  @exclusivity(unchecked) var noted: [Int64] = []
  /// The id that the next new record gets, once one has been made.
  @exclusivity(unchecked) var nextID: Int64?

  init(_ entity: EntityLayout, _ rules: RowRules) {
    self.entity = entity
    self.rules = rules
    buffers = entity.indexes.map { _ in IndexBuffer() }
    notes = (entity.build?.indexes ?? []).map { _ in IndexBuffer() }
  }

  /// Makes the present state one to come back to when a change cannot be completed.
  func mark() {
    for buffer in buffers { buffer.mark() }
    for buffer in notes { buffer.mark() }
  }

  func removeAllAfterMark() {
    for buffer in buffers { buffer.removeAllAfterMark() }
    for buffer in notes { buffer.removeAllAfterMark() }
  }

  /// Brings those indexes up to date that cannot wait. Unique ones are kept so at once, because the
  /// next record is checked against them; the others when they are read, when they grow large, or
  /// at the end.
  func applyUrgent(in transaction: TreeWriter) throws {
    for index in entity.indexes where buffers[index.number].isUrgent(isUnique: index.isUnique) {
      try buffers[index.number].apply(to: index, in: transaction)
    }
    guard let build = entity.build else { return }
    for (number, (_, tree)) in build.indexes.enumerated()
    where notes[number].isUrgent(isUnique: false) {
      try notes[number].apply(asNotesTo: tree, in: transaction)
    }
  }

  /// Brings the indexes up to date.
  func apply(in transaction: TreeWriter) throws {
    for index in entity.indexes { try buffers[index.number].apply(to: index, in: transaction) }
    guard let build = entity.build else { return }
    for (number, (_, tree)) in build.indexes.enumerated() {
      try notes[number].apply(asNotesTo: tree, in: transaction)
    }
    if let tree = build.recordNotes {
      for id in noted {
        try RecordKey.with(id) {
          try transaction.put(tree, key: $0, value: UnsafeRawBufferPointer(start: nil, count: 0))
        }
      }
    }
    noted.removeAll(keepingCapacity: true)
  }
}

extension StoreError {
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
      .invalidRequest, "an update put another record in the place of the one to change",
      [("record", id.description), ("other", other.description)],
      advice: "set its values instead")
  }
}

/// What the writer keeps between transactions to allocate less. Belongs to the writer queue.
package final class WriterScratch {
  // SAFETY (of what is unchecked): the writer's thread alone gets here, and what is handed down
  // from here is not reached for again before that call returns.
  @exclusivity(unchecked) package var record: [UInt8] = []
  @exclusivity(unchecked) var history = HistoryLog()
  @exclusivity(unchecked) var oldKey = KeyWriter()
  @exclusivity(unchecked) var newKey = KeyWriter()
  /// Counts the changes of records and the transactions: a row that was looked up at this step is
  /// still as it was then. Never 0.
  @exclusivity(unchecked) var step = 1
  /// Of the last typed write.
  @exclusivity(unchecked) var binding: TypeBinding?
  /// The schema revision that has been found writable.
  var checkedRevision: UInt64?
  private var rules: [String: RowRules] = [:]
  private var rulesRevision: UInt64 = 0

  /// Forgets what it knows of the schema: a transaction that changed it may not have come to its
  /// end, and another one gives its revision to another schema.
  func forgetSchema() {
    binding = nil
    checkedRevision = nil
    rules = [:]
    rulesRevision = 0
  }

  /// Compiled once per schema revision.
  func rules(of entity: EntityLayout, revision: UInt64) throws -> RowRules {
    if revision != rulesRevision {
      rules = [:]
      rulesRevision = revision
    }
    if let found = rules[entity.name] { return found }
    let compiled = try RowRules(entity)
    rules[entity.name] = compiled
    return compiled
  }
}

/// What the values of a row must be.
package struct RowRules {
  package let validator: RowValidator
  /// Positions whose defaults may not stand in a row: they must be given.
  let unfilled: [Int]

  init(_ entity: EntityLayout) throws {
    let validator = try RowValidator(entity.description.attributes)
    self.validator = validator
    let defaults = entity.newRow()
    unfilled = defaults.indices.filter { validator.failure(of: defaults[$0], at: $0) != nil }
  }
}
