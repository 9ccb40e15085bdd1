package import EntityModel

/// A record's own bytes, for code that knows the entity by positions: independent of any transaction.
///
/// A value is made of them when it is asked for. All were looked at when the copy was made, so asking
/// cannot fail.
package struct RowCopy: Sendable {
  private let entity: EntityLayout
  private let bytes: [UInt8]
  /// When the row was looked up: see `WriterScratch.step`.
  let step: Int

  init(_ view: RecordView, of entity: EntityLayout, at step: Int) throws(RecordDamage) {
    try view.check()
    self.entity = entity
    self.step = step
    bytes = Array(view.bytes)
  }

  /// - Parameter bytes: As the encoder has written them.
  init(_ bytes: [UInt8], of entity: EntityLayout) {
    self.entity = entity
    self.bytes = bytes
    step = 0
  }

  /// - Throws: What `body` throws.
  func withView<Result>(_ body: (RecordView) throws -> Result) throws -> Result? {
    try bytes.withUnsafeBytes { try entity.record.view(of: $0).map(body) }
  }

  package func value(_ position: Int) -> Value {
    bytes.withUnsafeBytes { bytes in
      do throws(RecordDamage) {
        return try entity.record.view(of: bytes)?.value(position) ?? .null
      } catch {
        assertionFailure("a value was not checked when the row was copied")
        return .null
      }
    }
  }
}

extension StoredRow {
  /// - Throws: `damaged` if a value is unreadable.
  package func copy() throws(StoreError) -> RowCopy {
    do {
      return try RowCopy(view, of: entity, at: step)
    } catch {
      throw .damaged("a record is unreadable", entity: entity.name, id: id)
    }
  }
}
