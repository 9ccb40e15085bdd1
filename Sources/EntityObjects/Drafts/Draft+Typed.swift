public import EntityModel
public import EntityStore

/// Records as Swift values.
extension Draft {
  /// The record as the draft has it.
  ///
  /// - Returns: `nil` if there is none, or if the draft has deleted it.
  /// - Throws: `invalidRequest` for an identity of another entity; what the type's `init(from:)`
  ///   throws, for a new record without a value that the type requires; else as `get(_:)`.
  public func get<T: Entity>(_ type: T.Type, _ id: ObjectID) throws -> T? {
    try read { try $0.get(type, id) }
  }

  /// Adds a record; attributes that the type does not know get their defaults.
  ///
  /// - Returns: Its temporary identity.
  /// - Throws: As `insert(_:_:)`.
  @discardableResult
  public func insert<T: Entity>(_ value: T) throws -> ObjectID {
    let entity = try store.read { try $0.layout(T.entityName) }
    let row = try entity.row(
      value.attributeValues, value.linkedObjects, of: T.self, over: entity.newRow())
    return try insert(row, into: entity)
  }

  /// Reads a record as the draft has it, lets the closure change it, and keeps what it became;
  /// attributes that the type does not know keep their values.
  ///
  /// - Throws: As `update(_:_:)`.
  public func update<T: Entity>(
    _ type: T.Type, _ id: ObjectID, _ change: (inout T) throws -> Void
  ) throws {
    // Both of one snapshot.
    let (found, record) = try read { (try $0.get(type, id), try $0.get(id)) }
    guard var value = found, let record else { throw StoreError.missing(id) }
    try change(&value)
    let row = try record.layout.row(
      value.attributeValues, value.linkedObjects, of: type, over: record.values)
    try update(id, to: row, from: record.values, of: record.layout)
  }

  /// - Throws: `invalidRequest` for an identity of another entity; else as `delete(_:)`.
  @discardableResult
  public func delete<T: Entity>(_ type: T.Type, _ id: ObjectID) throws -> Bool {
    try StoreError.requireEntity(type.entityName, of: id)
    return try delete(id)
  }

  /// The first record, in order of identity, with this value, or a new one. What the draft has
  /// inserted or changed takes part.
  ///
  /// - Parameter create: Makes the new record, which must have the value.
  /// - Throws: What `create` throws; `invalidRequest` if it returns another value; else as
  ///   `insert`.
  @discardableResult
  public func findOrCreate<T: Entity, V: AttributeValue>(
    _ type: T.Type, where keyPath: KeyPath<T, V>, is value: V,
    orCreate create: () throws -> T
  ) throws -> (id: ObjectID, wasCreated: Bool) {
    let name = try T.attributeName(of: keyPath)
    let found = try read { transaction in
      try transaction.first(T.entityName, having: [name: value.value]) {
        try DraftFetch($0, in: transaction).identifiers().first
      }
    }
    if let found { return (found, false) }
    let new = try create()
    try T.require(new[keyPath: keyPath].value, of: name, toBe: value.value)
    return (try insert(new), true)
  }
}
