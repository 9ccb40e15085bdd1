package import EntityModel

/// Unsaved values that a transaction shows in place of stored records.
package protocol RecordOverlay {
  /// The unsaved state of a record, or `nil` if the record is as it is stored.
  func pendingRecord(_ id: Int64, of entity: String) -> PendingRecord?

  /// Checks that the unsaved values fit the catalog.
  ///
  /// - Throws: `schemaMismatch`, `unknownEntity`.
  func check(against catalog: Catalog) throws
}

/// The unsaved state of a record.
package enum PendingRecord {
  /// The values by attribute position.
  case values([Value])
  case deleted
}

/// A snapshot of the store with unsaved changes on top of it, as a draft reads it.
///
/// A record that is looked up by identity or through a relationship has its unsaved values.
/// Indexes, and the links that indexes hold, show the stored state.
package final class OverlayTransaction<Overlay: RecordOverlay>: ReadTransaction {
  package let overlay: Overlay
  /// The unsaved records as encoded bytes, by identity, so that the code that reads stored records
  /// can read them, too.
  private var encoded: [ObjectID: UnsafeMutableRawBufferPointer] = [:]

  /// - Throws: `schemaMismatch`, `unknownEntity`.
  package init(_ snapshot: ReadTransaction, _ overlay: Overlay) throws {
    self.overlay = overlay
    super.init(snapshot.transaction, catalog: snapshot.catalog)
    verifiesReads = snapshot.verifiesReads
    try overlay.check(against: catalog)
  }

  // SAFETY: views of these bytes are used only in the closure that was given the transaction, and
  // its caller keeps the transaction until the closure has returned.
  deinit {
    for bytes in encoded.values { bytes.deallocate() }
  }

  /// The same snapshot without the unsaved changes.
  package var stored: ReadTransaction {
    let snapshot = ReadTransaction(transaction, catalog: catalog)
    snapshot.verifiesReads = verifiesReads
    return snapshot
  }

  package override func view(of id: Int64, in entity: EntityLayout) throws -> RecordView? {
    switch overlay.pendingRecord(id, of: entity.name) {
    case nil: try storedView(of: id, in: entity)
    case .deleted: nil
    case .values(let values): try view(of: values, id: id, in: entity)
    }
  }

  package override func exists(_ id: Int64, in entity: EntityLayout) throws -> Bool {
    switch overlay.pendingRecord(id, of: entity.name) {
    case nil: try super.exists(id, in: entity)
    case .deleted: false
    case .values: true
    }
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
