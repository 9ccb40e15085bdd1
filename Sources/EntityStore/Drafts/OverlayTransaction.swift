import EntityModel

/// A snapshot of the store with a draft's pending changes over it.
///
/// Records that are asked for by identity, those at the end of a relationship among them, are the
/// draft's. Indexes, and so the links that they hold, are as they were saved.
final class OverlayTransaction: ReadTransaction {
  private let pending: PendingChanges
  /// By entity and number: the pending records as bytes, so that everything that reads records
  /// reads them, too.
  private var encoded: [ObjectID: UnsafeMutableRawBufferPointer] = [:]

  /// - Throws: `schemaMismatch`, `unknownEntity`.
  init(_ snapshot: ReadTransaction, _ pending: PendingChanges) throws {
    self.pending = pending
    super.init(snapshot.transaction, catalog: snapshot.catalog)
    for entity in pending.entities.values { try entity.require(catalog.entity(entity.layout.name)) }
  }

  // SAFETY: a view of these bytes is used only within the closure of `Draft.read`, which keeps the
  // transaction until it returns.
  deinit {
    for bytes in encoded.values { bytes.deallocate() }
  }

  /// The same snapshot without the pending changes.
  var stored: ReadTransaction { ReadTransaction(transaction, catalog: catalog) }

  func pending(of entity: EntityLayout) -> [Int64: PendingObject] {
    pending.entities[entity.name]?.objects ?? [:]
  }

  override func view(of id: Int64, in entity: EntityLayout) throws -> RecordView? {
    guard let object = pending.object(id, of: entity.name) else {
      return try storedView(of: id, in: entity)
    }
    return try object.values.map { try view(of: $0, id: id, in: entity) }
  }

  override func exists(_ id: Int64, in entity: EntityLayout) throws -> Bool {
    guard let object = pending.object(id, of: entity.name) else {
      return try super.exists(id, in: entity)
    }
    return object.values != nil
  }

  private func view(
    of values: [Value], id: Int64, in entity: EntityLayout
  ) throws -> RecordView {
    let bytes = bytes(of: values, ObjectID(entity: entity.name, number: id), in: entity)
    guard let view = entity.record.view(of: bytes) else {
      throw StoreError.damaged("a pending record is unreadable", entity: entity.name, id: id)
    }
    return view
  }

  private func bytes(
    of values: [Value], _ id: ObjectID, in entity: EntityLayout
  ) -> UnsafeRawBufferPointer {
    if let known = encoded[id] { return UnsafeRawBufferPointer(known) }
    var record: [UInt8] = []
    entity.encode(values, into: &record)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: record.count, alignment: 8)
    bytes.copyBytes(from: record)
    encoded[id] = bytes
    return UnsafeRawBufferPointer(bytes)
  }
}
