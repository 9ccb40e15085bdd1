public import EntityModel
public import Foundation
package import LMDB

/// One consistent view of the store: everything read through it is of the same commit.
///
/// Valid only inside the closure that `Store.read` or `Store.write` passes it to, and on the
/// thread that runs the closure. Use after that traps.
public class ReadTransaction {
  package let transaction: TreeTransaction
  package let catalog: Catalog
  lazy var linkKey = LinkKey()
  /// Called now and then while a fetch looks at rows and entries; ends it by throwing.
  final var interruption: (() throws -> Void)?
  private final var visits = 0

  init(_ transaction: TreeTransaction, catalog: Catalog) {
    self.transaction = transaction
    self.catalog = catalog
  }

  public var schema: Schema { catalog.schema }
  public var storeID: UUID { catalog.uuid }

  /// What the catalog says of an entity.
  ///
  /// - Throws: `unknownEntity`, naming those that there are.
  public func description(of entity: String) throws -> EntityDescription {
    try catalog.entity(entity).description
  }

  /// Called before an index of the entity is read: a write transaction applies what it has
  /// collected.
  final func prepareToRead(_ entity: EntityLayout) throws {
    try prepareToRead(entityNamed: entity.name)
  }

  func prepareToRead(entityNamed name: String) throws {}

  /// Whether a closure that is called during a fetch may write.
  var canWrite: Bool { false }

  /// What a row that is looked up now is marked with; 0 where nothing is written.
  var step: Int { 0 }

  /// The number in the history of what this transaction itself has written, once some of it stands
  /// there.
  var ownHistorySequence: Int64? { nil }

  /// Whether this transaction has changed the entity.
  func hasChanged(_ entity: EntityLayout) -> Bool { false }

  /// The record with this identity.
  ///
  /// - Returns: `nil` if there is none.
  /// - Throws: `unknownEntity`, `damaged`, `storage`.
  /// - Complexity: O(log *n*).
  public func get(_ id: ObjectID) throws -> Record? {
    let entity = try catalog.entity(id.entity)
    guard let view = try view(of: id.number, in: entity) else { return nil }
    return try record(view, id: id.number, in: entity)
  }

  /// The record that has these values in a unique index on exactly these attributes.
  ///
  /// - Throws: `invalidRequest` if there is no such index; else as `get(_:)`.
  /// - Complexity: O(log *n*).
  public func get(_ entity: String, by values: [String: Value]) throws -> Record? {
    let layout = try catalog.entity(entity)
    guard let id = try identifier(in: layout, by: values) else { return nil }
    return try get(ObjectID(entity: entity, number: id))
  }

  /// The identity of the record that has these values in a unique index.
  public func objectID(_ entity: String, by values: [String: Value]) throws -> ObjectID? {
    try identifier(in: try catalog.entity(entity), by: values).map {
      ObjectID(entity: entity, number: $0)
    }
  }

  /// The number of records of an entity.
  ///
  /// - Complexity: O(1).
  public func count(of entity: String) throws -> Int {
    try transaction.count(try catalog.entity(entity).tree)
  }

  // MARK: Rows by position

  package func layout(_ entity: String) throws(StoreError) -> EntityLayout {
    try catalog.entity(entity)
  }

  /// A record in place, by attribute position: valid until the transaction ends or writes.
  package func row(_ id: Int64, of entity: EntityLayout) throws -> StoredRow? {
    try view(of: id, in: entity).map { StoredRow(view: $0, entity: entity, id: id, step: step) }
  }

  /// Calls the closure with every record in order of object id, until it returns `false`.
  package func eachRow(
    of entity: EntityLayout, _ body: (StoredRow) throws -> Bool
  ) throws {
    var execution = try FetchExecution(FetchRequest(entityName: entity.name), in: self)
    try execution.runRecords { id, view in try body(StoredRow(view: view, entity: entity, id: id)) }
  }

  // MARK: Views

  /// Counts a row or an entry that a fetch looks at, whether or not it is a match.
  @inline(__always)
  final func countVisit() throws {
    visits &+= 1
    if visits % Limits.visitsPerCheck == 0 { try interruption?() }
  }

  /// The record as whoever asks by identity sees it: in a draft, with what is pending.
  package func view(of id: Int64, in entity: EntityLayout) throws -> RecordView? {
    try storedView(of: id, in: entity)
  }

  /// Whether an entity has a record of this number; in a draft, with what is pending.
  package func exists(_ id: Int64, in entity: EntityLayout) throws -> Bool {
    try RecordKey.with(id) { try transaction.get(entity.tree, $0) } != nil
  }

  /// The record as it lies in the store, which is what index entries speak of.
  package final func storedView(of id: Int64, in entity: EntityLayout) throws -> RecordView? {
    try countVisit()
    let bytes = try RecordKey.with(id) { try transaction.get(entity.tree, $0) }
    guard let bytes else { return nil }
    guard let view = entity.record.view(of: bytes) else {
      throw StoreError.damaged("a record's header is unreadable", entity: entity.name, id: id)
    }
    return view
  }

  package func record(_ view: RecordView, id: Int64, in entity: EntityLayout) throws -> Record {
    do {
      return Record(
        id: ObjectID(entity: entity.name, number: id), layout: entity, values: try view.values())
    } catch {
      throw StoreError.damaged("a record is unreadable", entity: entity.name, id: id)
    }
  }

  func identifier(in entity: EntityLayout, by values: [String: Value]) throws -> Int64? {
    let index = try entity.uniqueIndex(on: Array(values.keys))
    var byPosition: [Int: Value] = [:]
    for (name, value) in values {
      let position = try entity.position(of: name)
      try entity.requireKind(of: value, at: position)
      byPosition[position] = value
    }
    return try identifier(in: entity, index: index, by: { byPosition[$0] ?? .null })
  }

  /// - Parameter value: By attribute position, of the attribute's kind or null.
  package func identifier(
    in entity: EntityLayout, index: IndexLayout, by value: (Int) -> Value
  ) throws -> Int64? {
    var key = KeyWriter()
    for part in index.parts {
      let value = value(part.position)
      if index.isSparse, value.isNull { return nil }
      if value.isNotANumber {
        throw StoreError.validation(
          .notANumber, entity: entity.name,
          attribute: entity.description.attributes[part.position].name)
      }
      index.append(part, value, to: &key)
    }
    guard let bytes = try transaction.get(index.tree, key.bytes),
      let id = index.objectID(key: key.bytes, value: bytes)
    else { return nil }
    guard key.isCut else { return id }
    // The key holds only a hash of a long value, so the record has the last word.
    guard let view = try storedView(of: id, in: entity) else { return nil }
    for part in index.parts {
      let stored = try view.value(part.position)
      guard part.areEqual(stored, value(part.position)) else { return nil }
    }
    return id
  }
}
