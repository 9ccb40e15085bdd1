public import EntityModel
import LMDB

extension ReadTransaction {
  /// Returns the record with this identity as a Swift value, or `nil`.
  @inlinable
  public func get<T: Entity>(_ type: T.Type, _ id: ObjectID) throws -> T? {
    var value: T?
    try readRecord(id, as: type) { value = try T(from: &$0) }
    return value
  }

  /// Returns the record that has this value in a unique index on exactly this attribute, or `nil`.
  @inlinable
  public func get<T: Entity, V: AttributeValue>(
    _ type: T.Type, where keyPath: KeyPath<T, V>, is value: V
  ) throws -> T? {
    var found: T?
    try readRecord(where: try T.attributeName(of: keyPath), is: value.value, as: type) {
      found = try T(from: &$0)
    }
    return found
  }

  /// Returns the records of the descriptor, filtered, sorted and limited. If an error is thrown, no
  /// part of the result is returned.
  @inlinable
  public func fetch<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    try fetch(try descriptor.request(), as: T.self)
  }

  /// Returns the records of the request as Swift values, with the records that it prefetches.
  ///
  /// - Throws: `invalidRequest` if the request is for another entity, or prefetches a relationship
  ///   that the type does not have.
  @inlinable
  public func fetch<T: Entity>(_ request: FetchRequest, as type: T.Type) throws -> [T] {
    var rows: [T] = []
    rows.reserveCapacity(min(request.fetchLimit ?? 0, StoreLimits.rowsReservedMax))
    try readRecords(request, as: type) { rows.append(try T(from: &$0)) }
    for name in request.relationshipKeyPathsForPrefetching { try prefetch(name, into: &rows) }
    return rows
  }

  /// Returns the values of the descriptor with the identities of their records, else as `fetch`.
  @inlinable
  public func fetchIdentified<T: Entity>(
    _ descriptor: FetchDescriptor<T>
  ) throws -> [Identified<T>] {
    try fetchIdentified(try descriptor.request(), as: T.self)
  }

  /// Returns the records of the request as Swift values with their identities, else as
  /// `fetch(_:as:)`.
  @inlinable
  public func fetchIdentified<T: Entity>(
    _ request: FetchRequest, as type: T.Type
  ) throws -> [Identified<T>] {
    var identities: [ObjectID] = []
    var values: [T] = []
    try readRecords(request, as: type) { record in
      identities.append(record.id)
      values.append(try T(from: &record))
    }
    for name in request.relationshipKeyPathsForPrefetching { try prefetch(name, into: &values) }
    return zip(identities, values).map { Identified($0, $1) }
  }

  @usableFromInline
  func readRecord(
    _ id: ObjectID, as type: any Entity.Type, _ body: (inout RecordReader) throws -> Void
  ) throws {
    try readRecord(id.number, of: try typedEntity(type, id), as: type, body)
  }

  @usableFromInline
  func readRecord(
    where attribute: String, is value: Value, as type: any Entity.Type,
    _ body: (inout RecordReader) throws -> Void
  ) throws {
    let entity = try catalog.entity(type.entityName)
    let index = try entity.uniqueIndex(on: [attribute])
    try entity.requireKind(of: value, at: index.parts[0].position)
    guard let id = try identifier(in: entity, index: index, by: { _ in value }) else { return }
    try readRecord(id, of: entity, as: type, body)
  }

  private func readRecord(
    _ id: Int64, of entity: EntityLayout, as type: any Entity.Type,
    _ body: (inout RecordReader) throws -> Void
  ) throws {
    guard let view = try view(of: id, in: entity) else { return }
    let decoder = EntityDecoder(type, entity: entity, in: self)
    try decoder.decode(view, id, body)
  }

  /// Returns those of the records that exist, by identity.
  ///
  /// - Throws: `invalidRequest` if they are more than `StoreLimits.prefetchedMax`.
  func values<T: Entity>(_ type: T.Type, _ ids: Set<ObjectID>) throws -> [ObjectID: T] {
    guard ids.count <= StoreLimits.prefetchedMax else {
      throw StoreError(
        .invalidRequest, "a fetch prefetches too many records",
        [("entity", type.entityName), ("at most", String(StoreLimits.prefetchedMax))],
        advice: "fetch in windows, or fetch the related records by themselves")
    }
    var values: [ObjectID: T] = [:]
    for id in ids.sorted(by: { $0.number < $1.number }) { values[id] = try get(type, id) }
    return values
  }

  @usableFromInline
  package func prefetch<T: Entity>(_ name: String, into rows: inout [T]) throws {
    guard let relationship = T.relationships.first(where: { $0.name == name }) else {
      throw StoreError(
        .invalidRequest, "a type has no relationship with the name that is prefetched",
        [("type", "\(T.self)"), ("relationship", name)],
        advice: "list it in \(T.self).relationships")
    }
    try relationship.prefetch(&rows, self)
  }

  @usableFromInline
  package func readRecords(
    _ request: FetchRequest, as type: any Entity.Type,
    _ body: (inout RecordReader) throws -> Void
  ) throws {
    try StoreError.requireEntity(type.entityName, of: request)
    try requireRecords(request)
    var execution = try FetchExecution(request, in: self)
    execution.readsAll = true
    let decoder = EntityDecoder(type, entity: execution.entity, in: self)
    try execution.runRecords { id, view in
      try decoder.decode(view, id, body)
      return true
    }
  }

  public func fetchIdentifiers<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> [ObjectID] {
    try fetchIdentifiers(try descriptor.request())
  }

  /// Returns the columns that `propertiesToFetch` names.
  public func fetchRows<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> [ResultRow] {
    try fetchRows(try descriptor.request())
  }

  public func count<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    try count(try descriptor.request())
  }

  public func explain<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> FetchPlan {
    try explain(try descriptor.request())
  }

  fileprivate func typedEntity(_ type: any Entity.Type, _ id: ObjectID) throws -> EntityLayout {
    try StoreError.requireEntity(type.entityName, of: id)
    return try catalog.entity(id.entity)
  }
}

extension WriteTransaction {
  /// Inserts a value as a new record; attributes that the type does not have get their defaults.
  @inlinable
  @discardableResult
  public func insert<T: Entity>(_ value: T) throws -> ObjectID {
    try insert(value.attributeValues, value.linkedObjects, as: T.self)
  }

  /// Reads a record, calls the closure to change it, and writes it if it changed; attributes that
  /// the type does not have keep their values.
  @inlinable
  public func update<T: Entity>(
    _ type: T.Type, _ id: ObjectID, _ change: (inout T) throws -> Void
  ) throws {
    guard var value = try get(type, id) else { throw StoreError.missing(id) }
    try change(&value)
    try update(id, to: value.attributeValues, value.linkedObjects, as: type)
  }

  /// Finds the record with this value's unique attributes and changes it; inserts a record if there
  /// is none.
  ///
  /// - Parameter keyPaths: Exactly the attributes of one unique index.
  @inlinable
  @discardableResult
  public func upsert<T: Entity>(_ value: T, by keyPaths: PartialKeyPath<T>...) throws -> ObjectID {
    try upsert(
      value.attributeValues, value.linkedObjects, as: T.self, by: keyPaths.map { $0 as AnyKeyPath }
    ) {
      try keyPaths.map { try T.attributeName(of: $0) }
    }
  }

  @discardableResult
  public func delete<T: Entity>(_ type: T.Type, _ id: ObjectID) throws -> Bool {
    _ = try typedEntity(type, id)
    return try delete(id)
  }
}

extension StoreError {
  package static func requireEntity(_ name: String, of id: ObjectID) throws(StoreError) {
    if id.entity == name { return }
    throw StoreError(
      .invalidRequest, "an identity belongs to another entity",
      [("expected", name), ("found", id.entity)])
  }

  package static func requireEntity(_ name: String, of request: FetchRequest) throws(StoreError) {
    if request.entityName == name { return }
    throw StoreError(
      .invalidRequest, "a request is for another entity than the type",
      [("expected", name), ("found", request.entityName)])
  }
}

extension Store {
  /// Runs one fetch on a snapshot of its own.
  @inlinable
  public func fetch<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> [T] {
    try read { try $0.fetch(descriptor) }
  }

  /// Runs one fetch on a snapshot of its own.
  @inlinable
  public func fetch<T: Entity>(_ request: FetchRequest, as type: T.Type) throws -> [T] {
    try read { try $0.fetch(request, as: type) }
  }

  /// Runs one fetch on a snapshot of its own.
  public func fetch(_ request: FetchRequest) throws -> [Record] {
    try read { try $0.fetch(request) }
  }

  /// Runs one fetch of values with their identities on a snapshot of its own.
  @inlinable
  public func fetchIdentified<T: Entity>(
    _ descriptor: FetchDescriptor<T>
  ) throws -> [Identified<T>] {
    try read { try $0.fetchIdentified(descriptor) }
  }

  /// Runs one fetch of values with their identities on a snapshot of its own.
  @inlinable
  public func fetchIdentified<T: Entity>(
    _ request: FetchRequest, as type: T.Type
  ) throws -> [Identified<T>] {
    try read { try $0.fetchIdentified(request, as: type) }
  }

  public func fetchRows(_ request: FetchRequest) throws -> [ResultRow] {
    try read { try $0.fetchRows(request) }
  }

  public func fetchIdentifiers(_ request: FetchRequest) throws -> [ObjectID] {
    try read { try $0.fetchIdentifiers(request) }
  }

  public func count(_ request: FetchRequest) throws -> Int {
    try read { try $0.count(request) }
  }

  public func explain(_ request: FetchRequest) throws -> FetchPlan {
    try read { try $0.explain(request) }
  }

  public func fetchRows<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> [ResultRow] {
    try read { try $0.fetchRows(descriptor) }
  }

  public func fetchIdentifiers<T: Entity>(
    _ descriptor: FetchDescriptor<T>
  ) throws -> [ObjectID] {
    try read { try $0.fetchIdentifiers(descriptor) }
  }

  public func count<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> Int {
    try read { try $0.count(descriptor) }
  }

  public func explain<T: Entity>(_ descriptor: FetchDescriptor<T>) throws -> FetchPlan {
    try read { try $0.explain(descriptor) }
  }
}
