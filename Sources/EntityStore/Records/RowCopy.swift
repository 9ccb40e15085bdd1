package import EntityModel

/// A copy of a record's bytes, for code that knows the entity by positions. Independent of any
/// transaction.
///
/// A value is decoded when it is asked for. All values were checked when the copy was created, so
/// the decoding cannot fail.
package struct RowCopy: Sendable {
  let entity: EntityLayout
  private var bytes: [UInt8]
  /// The step at which the row was looked up: see `WriterScratch.step`.
  let step: Int

  init(_ view: RecordView, of entity: EntityLayout, at step: Int) throws(RecordDamage) {
    try entity.record.check(view)
    self.entity = entity
    self.step = step
    bytes = Array(entity.record.storedBytes(of: view))
  }

  /// Creates a copy from bytes that the encoder has written.
  init(_ bytes: [UInt8], of entity: EntityLayout) {
    self.entity = entity
    self.bytes = bytes
    step = 0
  }

  /// The size of the record in bytes.
  package var byteCount: Int { bytes.count }

  /// Calls the closure with the bytes of the record.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
    try bytes.withUnsafeBytes(body)
  }

  /// Replaces a value of fixed size. It is not validated.
  package mutating func set(_ value: Value, at position: Int) {
    let slot = entity.record.plan.slots[position]
    precondition(!slot.isVariable, "the value would change the size of the record")
    precondition(
      value.isNull || value.kind == entity.description.attributes[position].type.kind,
      "the value is of another kind than the attribute")
    bytes.withUnsafeMutableBytes { RecordEncoder.store(value, at: slot, in: $0) }
  }

  /// Returns the row with the new values in place, which are not validated.
  package func changed(by changes: RowChanges) -> RowCopy {
    var changed: [UInt8] = []
    let plan = entity.record.plan
    bytes.withUnsafeBytes { bytes in
      if let view = entity.record.view(of: bytes), entity.record.isCurrent(view),
        plan.isSound(bytes)
      {
        RecordEncoder.encode(changes, overSound: bytes, as: plan, into: &changed)
      } else {
        entity.encode(changes.laid(over: values()), into: &changed)
      }
    }
    return RowCopy(changed, of: entity)
  }

  /// Calls the closure with a view of the copy.
  ///
  /// - Throws: The error of the closure.
  func withView<Result>(_ body: (RecordView) throws -> Result) throws -> Result? {
    try bytes.withUnsafeBytes { try entity.record.view(of: $0).map(body) }
  }

  /// Returns the integer at a position; `nil` for null, and for a value of another kind.
  package func int64(_ position: Int) -> Int64? {
    field(position) { $0.kind == .int64 && !$0.isNull ? $0.int64 : nil }
  }

  /// Returns the double at a position, or the seconds since the reference date of a date; `nil` for
  /// null, and for a value of another kind.
  package func double(_ position: Int) -> Double? {
    field(position) { ($0.kind == .double || $0.kind == .date) && !$0.isNull ? $0.double : nil }
  }

  /// Returns true if the text at a position has the same bytes as this one.
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

  package func values() -> [Value] { (0..<entity.attributeIDs.count).map(value) }

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
  /// Returns a copy of the row.
  ///
  /// - Throws: `damaged` if a value is unreadable.
  package func copy() throws(StoreError) -> RowCopy {
    try entity.decoding(id) { () throws(RecordDamage) in
      try RowCopy(view, of: entity, at: step)
    }
  }
}

extension Value {
  /// The bytes of a text; 0 for other values.
  fileprivate var textByteCount: Int {
    if case .string(let text) = self { text.utf8.count } else { 0 }
  }
}

extension EntityLayout {
  /// Returns the bytes of a row of default values.
  package func newRowCopy() -> RowCopy { RowCopy(defaultBytes, of: self) }

  /// Returns the bytes of a row of default values with the changes applied; nothing is validated.
  package func newRowCopy(with changes: RowChanges) -> RowCopy {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(
      changes.entries.reduce(defaultBytes.count) { $0 + $1.value.textByteCount })
    encode(changes, into: &bytes)
    return RowCopy(bytes, of: self)
  }
}
