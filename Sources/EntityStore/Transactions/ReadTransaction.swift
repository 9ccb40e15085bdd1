public import EntityModel
public import Foundation
package import LMDB

/// One consistent view of the store: everything that is read through it belongs to the same commit.
///
/// Valid only inside the closure that `Store.read` or `Store.write` passes it to, and only on the
/// thread that runs the closure. A later use traps.
public class ReadTransaction {
  package let transaction: TreeTransaction
  package let catalog: Catalog
  lazy var linkKey = LinkKey()
  /// Called from time to time while a fetch reads rows and index entries. The fetch ends with the
  /// error that it throws.
  final var interruption: (() throws -> Void)?
  /// True to compare what is read with its seal.
  // SAFETY (`@exclusivity(unchecked)`): set once, before the transaction is used.
  @exclusivity(unchecked) final var verifiesReads = false
  private final var visits = 0

  init(_ transaction: TreeTransaction, catalog: Catalog) {
    self.transaction = transaction
    self.catalog = catalog
  }

  public var schema: Schema { catalog.schema }
  public var storeID: UUID { catalog.uuid }
  /// The number of the last commit that it sees.
  package final var number: Int { transaction.id }
  /// The name of this machine among those that have the store; `nil` if there are no others.
  package var machineName: String? { transaction.machineName }

  /// Returns the description of an entity from the catalog.
  ///
  /// - Throws: `unknownEntity`; the message lists the existing entities.
  public func description(of entity: String) throws -> EntityDescription {
    try catalog.entity(entity).description
  }

  /// Prepares the entity before one of its indexes is read: a write transaction applies its
  /// buffered index changes.
  final func prepareToRead(_ entity: EntityLayout) throws {
    try prepareToRead(entityNamed: entity.name)
  }

  func prepareToRead(entityNamed name: String) throws {}

  /// True if a closure that is called during a fetch may write.
  var canWrite: Bool { false }

  /// The step that marks a row which is looked up now (see `WriterScratch.step`); 0 in a
  /// transaction that does not write.
  var step: Int { 0 }

  /// The sequence number in the change history of the changes of this transaction; `nil` until some
  /// of them are in the history.
  var ownHistorySequence: Int64? { nil }

  /// Returns true if this transaction has changed the entity.
  func hasChanged(_ entity: EntityLayout) -> Bool { false }

  /// Returns the record with this identity.
  ///
  /// - Returns: `nil` if there is none.
  /// - Throws: `unknownEntity`, `damaged`, a storage failure.
  /// - Complexity: O(log *n*).
  public func get(_ id: ObjectID) throws -> Record? {
    let entity = try catalog.entity(id.entity)
    guard let view = try view(of: id.number, in: entity) else { return nil }
    return try Record(view, id: id.number, of: entity)
  }

  /// Returns the record that has these values in a unique index on exactly these attributes.
  ///
  /// - Returns: `nil` if there is none.
  /// - Throws: `invalidRequest` if there is no such index; else as `get(_:)`.
  /// - Complexity: O(log *n*).
  public func get(_ entity: String, by values: [String: Value]) throws -> Record? {
    let layout = try catalog.entity(entity)
    guard let id = try identifier(in: layout, by: values) else { return nil }
    return try get(ObjectID(entity: entity, number: id))
  }

  /// Returns the identity of the record that has these values in a unique index; errors as
  /// `get(_:by:)`.
  public func objectID(_ entity: String, by values: [String: Value]) throws -> ObjectID? {
    try identifier(in: try catalog.entity(entity), by: values).map {
      ObjectID(entity: entity, number: $0)
    }
  }

  /// Returns the number of records of an entity.
  ///
  /// - Complexity: O(1).
  public func count(of entity: String) throws -> Int {
    try transaction.count(try catalog.entity(entity).tree)
  }

  // MARK: Rows by position

  package func layout(_ entity: String) throws(StoreError) -> EntityLayout {
    try catalog.entity(entity)
  }

  /// Returns a record in place, by attribute position. It is valid until the transaction ends or
  /// writes.
  package func row(_ id: Int64, of entity: EntityLayout) throws -> StoredRow? {
    try view(of: id, in: entity).map { StoredRow(view: $0, entity: entity, id: id, step: step) }
  }

  /// Returns a copy of a record, by attribute position.
  ///
  /// - Throws: `damaged` if a value is unreadable.
  package final func copy(of id: Int64, in entity: EntityLayout) throws -> RowCopy? {
    guard let view = try view(of: id, in: entity) else { return nil }
    noteCopy(of: view, id: id, in: entity)
    return try entity.decoding(id) { () throws(RecordDamage) in
      try RowCopy(view, of: entity, at: step)
    }
  }

  /// Called for each record that is copied.
  func noteCopy(of view: RecordView, id: Int64, in entity: EntityLayout) {}

  // MARK: Views

  /// Counts a row or an index entry that a fetch reads, match or not, and calls `interruption` from
  /// time to time.
  @inline(__always)
  final func countVisit() throws {
    visits &+= 1
    if visits % StoreLimits.visitsPerCheck == 0 { try interruption?() }
  }

  /// Returns the record as a lookup by identity sees it: in a draft, with its unsaved changes.
  package func view(of id: Int64, in entity: EntityLayout) throws -> RecordView? {
    try storedView(of: id, in: entity)
  }

  /// Returns true if the entity has a record with this id: in a draft, with its unsaved changes.
  package func exists(_ id: Int64, in entity: EntityLayout) throws -> Bool {
    try RecordKey.with(id) { try transaction.get(entity.tree, $0) } != nil
  }

  /// Returns the record as it is stored. Index entries refer to this state, not to unsaved changes.
  ///
  /// - Parameter found: Its bytes, if they have been looked up.
  package final func storedView(
    of id: Int64, in entity: EntityLayout, found: UnsafeRawBufferPointer? = nil
  ) throws -> RecordView? {
    try countVisit()
    let stored = try found ?? transaction.get(entity.tree, number: RecordKey.number(of: id))
    guard let bytes = stored else { return nil }
    guard let view = entity.record.view(of: bytes) else {
      throw StoreError.damaged("a record's header is unreadable", entity: entity.name, id: id)
    }
    if verifiesReads { try entity.verify(bytes, id: id) }
    return view
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

  /// Returns the id of the record that has these values in the unique index.
  ///
  /// - Parameter value: Returns the value for an attribute position: null, or of the attribute's
  ///   kind.
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
    // The key holds only a hash of a long value, so the values in the record are compared as well.
    guard let view = try storedView(of: id, in: entity) else { return nil }
    for part in index.parts {
      let stored = try view.value(part.position)
      guard part.areEqual(stored, value(part.position)) else { return nil }
    }
    return id
  }
}
