public import EntityModel
import LMDB

extension ReadTransaction {
  /// The record with this identity as a Swift value.
  public func get<T: Entity>(_ type: T.Type, _ id: ObjectID) throws -> T? {
    let entity = try typedEntity(type, id)
    guard let view = try view(of: id.number, in: entity) else { return nil }
    var decoder = EntityDecoder<T>(entity: entity)
    return try decoder.decode(view)
  }

  /// The record that has this value in a unique index on exactly this attribute.
  public func get<T: Entity, V: AttributeValue>(
    _ type: T.Type, where keyPath: KeyPath<T, V>, is value: V
  ) throws -> T? {
    let name = try T.attributeName(of: keyPath)
    guard let id = try objectID(T.entityName, by: [name: value.value]) else { return nil }
    return try get(type, id)
  }

  /// The records of the descriptor, filtered, sorted and windowed. Throws, and never returns a
  /// part.
  public func fetch<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    let request = try descriptor.request()
    var rows: [T] = []
    if request.fetchLimit > 0 { rows.reserveCapacity(min(request.fetchLimit, 1_024)) }
    var execution = try FetchExecution(request, in: self)
    var decoder = EntityDecoder<T>(entity: execution.entity)
    try execution.run { _, view in
      rows.append(try decoder.decode(view))
      return true
    }
    return rows
  }

  public func fetchIdentifiers<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> [ObjectID] {
    try fetchIdentifiers(try descriptor.request())
  }

  public func count<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    try count(try descriptor.request())
  }

  public func explain<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> FetchPlan {
    try explain(try descriptor.request())
  }

  fileprivate func typedEntity<T: Entity>(_ type: T.Type, _ id: ObjectID) throws -> EntityLayout {
    guard id.entity == type.entityName else {
      throw StoreError(
        .invalidRequest, "an identity is of another entity",
        [("expected", type.entityName), ("found", id.entity)])
    }
    return try catalog.entity(id.entity)
  }
}

extension WriteTransaction {
  /// Writes a value as a new record; attributes that the type does not know get their defaults.
  @discardableResult
  public func insert<T: Entity>(_ value: T) throws -> ObjectID {
    let entity = try catalog.entity(T.entityName)
    var row = entity.defaults
    value.write(to: &row, at: try entity.positions(of: T.self))
    return ObjectID(entity: T.entityName, number: try insert(row, into: entity))
  }

  /// Reads a record, lets the closure change it, and writes it if it changed; attributes that the
  /// type does not know keep their values.
  public func update<T: Entity>(
    _ type: T.Type, _ id: ObjectID, _ change: (inout T) throws -> Void
  ) throws {
    guard var value = try get(type, id) else { throw StoreError.missing(id) }
    try change(&value)
    try write(value, over: id)
  }

  /// Finds the record with this value's unique attributes and changes it; inserts one if there is
  /// none.
  ///
  /// - Parameter keyPaths: Exactly the attributes of one unique index.
  @discardableResult
  public func upsert<T: Entity>(_ value: T, by keyPaths: PartialKeyPath<T>...) throws -> ObjectID {
    let entity = try catalog.entity(T.entityName)
    let index = try entity.uniqueIndex(on: try keyPaths.map { try T.attributeName(of: $0) })
    var row = entity.defaults
    value.write(to: &row, at: try entity.positions(of: T.self))
    guard let id = try identifier(in: entity, index: index, by: { row[$0] }) else {
      return ObjectID(entity: T.entityName, number: try insert(row, into: entity))
    }
    let identity = ObjectID(entity: T.entityName, number: id)
    try write(value, over: identity)
    return identity
  }

  private func write<T: Entity>(_ value: T, over id: ObjectID) throws {
    try update(id) { record in
      value.write(to: &record.values, at: try record.layout.positions(of: T.self))
    }
  }

  @discardableResult
  public func delete<T: Entity>(_ type: T.Type, _ id: ObjectID) throws -> Bool {
    _ = try typedEntity(type, id)
    return try delete(id)
  }
}

extension Store {
  /// One fetch on a snapshot of its own.
  public func fetch<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    try read { try $0.fetch(descriptor) }
  }

  public func fetch(_ request: FetchRequest) throws -> [Record] {
    try read { try $0.fetch(request) }
  }

  public func count<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    try read { try $0.count(descriptor) }
  }

  public func explain<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> FetchPlan {
    try read { try $0.explain(descriptor) }
  }
}
