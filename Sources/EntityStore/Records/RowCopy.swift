package import EntityModel

/// A record's own bytes, for code that knows the entity by positions: independent of any
/// transaction.
///
/// A value is made of them when it is asked for. All were looked at when the copy was made, so
/// asking cannot fail.
package struct RowCopy: Sendable {
  private let entity: EntityLayout
  private let bytes: [UInt8]
  /// When the row was looked up: see `WriterScratch.step`.
  let step: Int

  init(_ view: RecordView, of entity: EntityLayout, at step: Int) throws(RecordDamage) {
    try entity.record.check(view)
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

  /// The number at a position of that kind; `nil` for null, and for a value of another kind.
  package func int64(_ position: Int) -> Int64? {
    field(position) { $0.kind == .int64 && !$0.isNull ? $0.int64 : nil }
  }

  /// Likewise of a double, or of a date as its seconds since the reference date.
  package func double(_ position: Int) -> Double? {
    field(position) { ($0.kind == .double || $0.kind == .date) && !$0.isNull ? $0.double : nil }
  }

  /// Whether the text at a position is this one, byte by byte.
  package func hasText(_ text: String, at position: Int) -> Bool {
    field(position) { field in
      guard field.kind == .string, !field.isNull else { return false }
      var text = text
      return text.withUTF8 { text in
        do throws(RecordDamage) {
          return compare(try field.bytes(), UnsafeRawBufferPointer(text)) == 0
        } catch {
          return false
        }
      }
    } ?? false
  }

  package func isNull(_ position: Int) -> Bool { field(position) { $0.isNull } ?? true }

  @inline(__always)
  private func field<Result>(_ position: Int, _ body: (RecordField) -> Result?) -> Result? {
    bytes.withUnsafeBytes { bytes in
      entity.record.view(of: bytes).flatMap { body($0.field(position)) }
    }
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
