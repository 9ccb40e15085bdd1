public import EntityModel
public import EntityStore

/// Access to records as Swift values.
extension Draft {
  /// Returns the record with the draft's changes.
  ///
  /// - Returns: `nil` if there is none, or if the draft has deleted it.
  /// - Throws: `invalidRequest` for an identity of another entity; the errors of the type's
  ///   `init(from:)`, for a new record without a value that the type requires; the errors of
  ///   `get(_:)`.
  public func get<T: Entity>(_ type: T.Type, _ id: ObjectID) throws -> T? {
    try read { try $0.get(type, id) }
  }

  /// Adds a record; attributes that the type does not declare get their defaults.
  ///
  /// - Returns: The temporary identity of the record.
  /// - Throws: The errors of `insert(_:_:)`.
  @discardableResult
  public func insert<T: Entity>(_ value: T) throws -> ObjectID {
    let entity = try store.read { try $0.layout(T.entityName) }
    let row = try entity.row(
      value.attributeValues, value.linkedObjects, of: T.self, over: entity.newRow())
    return try insert(row, into: entity)
  }

  /// Reads a record with the draft's changes, lets the closure change it, and stores the result in
  /// the draft; attributes that the type does not declare keep their values.
  ///
  /// - Throws: The errors of `update(_:_:)`.
  public func update<T: Entity>(
    _ type: T.Type, _ id: ObjectID, _ change: (inout T) throws -> Void
  ) throws {
    // Both reads use one snapshot.
    let (found, record) = try read { (try $0.get(type, id), try $0.get(id)) }
    guard var value = found, let record else { throw StoreError.missing(id) }
    try change(&value)
    let row = try record.layout.row(
      value.attributeValues, value.linkedObjects, of: type, over: record.values)
    try update(id, to: row, from: record.values, of: record.layout)
  }

  /// Deletes a record.
  ///
  /// - Returns: True if there was such a record.
  /// - Throws: `invalidRequest` for an identity of another entity; the errors of `delete(_:)`.
  @discardableResult
  public func delete<T: Entity>(_ type: T.Type, _ id: ObjectID) throws -> Bool {
    try StoreError.requireEntity(type.entityName, of: id)
    return try delete(id)
  }

  /// Returns the first record, in order of identity, with this value, or inserts a new one. Records
  /// that the draft has inserted or changed are included.
  ///
  /// - Parameter newValue: Returns the new record, which must have the value.
  /// - Throws: The errors of `newValue` and `insert`; `invalidRequest` if the record has another
  ///   value.
  @discardableResult
  public func fetchOrInsert<T: Entity, V: AttributeValue>(
    _ type: T.Type, where keyPath: KeyPath<T, V>, is value: V,
    orInsert newValue: () throws -> T
  ) throws -> (id: ObjectID, wasInserted: Bool) {
    let name = try T.attributeName(of: keyPath)
    if let found = try first(T.entityName, having: [name: value.value]) { return (found, false) }
    let new = try newValue()
    try T.require(new[keyPath: keyPath].value, of: name, toBe: value.value)
    return (try insert(new), true)
  }
}
