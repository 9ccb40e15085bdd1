package import EntityModel
package import Foundation

/// A record that is read in place, for code that knows the entity by positions.
package struct StoredRow {
  let view: RecordView
  let entity: EntityLayout
  package let id: Int64
  /// The step at which the row was looked up: see `WriterScratch.step`.
  var step = 0

  /// Returns the integer at a position.
  ///
  /// - Returns: `nil` for null.
  package func int64(_ position: Int) -> Int64? {
    let field = view.field(position)
    return field.isNull ? nil : field.int64
  }

  /// Returns the date at a position.
  ///
  /// - Returns: `nil` for null.
  package func date(_ position: Int) -> Date? {
    let field = view.field(position)
    return field.isNull ? nil : Date(timeIntervalSinceReferenceDate: field.double)
  }

  /// Returns the truth value at a position.
  ///
  /// - Returns: `nil` for null.
  package func bool(_ position: Int) -> Bool? {
    let field = view.field(position)
    return field.isNull ? nil : field.bool
  }

  /// Returns the stored bytes of a value, valid as long as the row is.
  ///
  /// - Returns: `nil` for null.
  package func bytes(
    _ position: Int
  ) throws(StoreError) -> (kind: ValueKind, bytes: UnsafeRawBufferPointer)? {
    let field = view.field(position)
    if field.isNull { return nil }
    let bytes = try entity.decoding(id) { () throws(RecordDamage) in try field.storedBytes() }
    return (field.kind, bytes)
  }

  package func value(_ position: Int) throws(StoreError) -> Value {
    try entity.decoding(id) { () throws(RecordDamage) in try view.value(position) }
  }

  package func values() throws(StoreError) -> [Value] {
    try entity.decoding(id) { () throws(RecordDamage) in try view.values() }
  }
}
