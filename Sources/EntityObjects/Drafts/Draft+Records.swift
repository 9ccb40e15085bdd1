public import EntityModel
public import EntityStore

/// Access to records by the names of their entities and attributes.
extension Draft {
  /// Returns the record with the draft's changes.
  ///
  /// - Returns: `nil` if there is none, or if the draft has deleted it.
  /// - Throws: `unknownEntity`, `damaged`, a storage failure.
  public func get(_ id: ObjectID) throws -> Record? {
    guard let entity = pending.entities[id.entity], let object = entity.objects[id.number] else {
      return try store.read { try $0.get(id) }
    }
    return object.values.map { Record(id: id, layout: entity.layout, values: $0) }
  }

  /// Adds a record.
  ///
  /// - Parameter values: The values by attribute name; other attributes get their defaults.
  /// - Returns: The temporary identity of the record.
  /// - Throws: `unknownEntity`, `unknownAttribute`; `validation` for a value of another type than
  ///   the attribute's, or NaN. All other rules are applied by the save.
  @discardableResult
  public func insert(_ entity: String, _ values: [String: Value] = [:]) throws -> ObjectID {
    let layout = try store.read { try $0.layout(entity) }
    var row = layout.newRow()
    for (name, value) in values { row[try layout.position(of: name)] = value }
    return try insert(row, into: layout)
  }

  /// Reads a record with the draft's changes, lets the closure change it, and stores the result in
  /// the draft. A record that gets its former values back counts as unchanged.
  ///
  /// - Throws: `missingRecord`; the errors of the closure; `invalidRequest` if the closure assigns
  ///   a record of another identity; the errors of `insert`.
  public func update(_ id: ObjectID, _ change: (inout Record) throws -> Void) throws {
    guard var record = try get(id) else { throw StoreError.missing(id) }
    let before = record.values
    try change(&record)
    guard record.id == id else { throw StoreError.otherRecord(record.id, insteadOf: id) }
    try update(id, to: record.values, from: before, of: record.layout)
  }

  /// Deletes a record. A record that the draft has inserted is removed from the draft altogether.
  ///
  /// Delete rules are applied by the save. Only the rules of an inserted record are applied at once
  /// to the records that the draft has linked with it: they are deleted or their links are removed.
  /// A link that a rule denies or leaves unchanged is refused by the save.
  ///
  /// - Returns: True if there was such a record.
  /// - Throws: The errors of `get`.
  @discardableResult
  public func delete(_ id: ObjectID) throws -> Bool {
    guard let record = try get(id) else { return false }
    try change { try $0.delete(id.number, from: record.values, of: record.layout) }
    return true
  }

  /// Returns the first record, in order of identity, that has these values, or inserts a new one.
  /// Records that the draft has inserted or changed are included.
  ///
  /// - Parameter attributes: At least one. Texts are compared by their bytes.
  /// - Parameter values: The other values of a new record.
  /// - Throws: The errors of `fetch` and `insert`.
  @discardableResult
  public func fetchOrInsert(
    _ entity: String, by attributes: [String: Value], orInsert values: [String: Value] = [:]
  ) throws -> (id: ObjectID, wasInserted: Bool) {
    if let found = try first(entity, having: attributes) { return (found, false) }
    return (try insert(entity, attributes.merging(values) { found, _ in found }), true)
  }

  /// Returns the first record with these values, in order of identity.
  func first(_ entity: String, having values: [String: Value]) throws -> ObjectID? {
    try read { transaction in
      try transaction.first(entity, having: values) {
        try DraftFetch($0, in: transaction).identifiers().first
      }
    }
  }

  // MARK: Rows by position

  func insert(_ row: [Value], into entity: EntityLayout) throws -> ObjectID {
    let id = ObjectID(entity: entity.name, number: TemporaryNumbers.take())
    try entity.requireKinds(of: row, id)
    try change { try $0.insert(id.number, row, into: entity) }
    return id
  }

  func update(
    _ id: ObjectID, to values: [Value], from before: [Value], of entity: EntityLayout
  ) throws {
    try entity.requireKinds(of: values, id)
    try change { try $0.update(id.number, to: values, from: before, of: entity) }
  }
}

extension EntityLayout {
  /// Refuses values of a wrong type at once; the rules of attributes are applied by the save.
  fileprivate func requireKinds(of row: [Value], _ id: ObjectID) throws(StoreError) {
    for (attribute, value) in zip(description.attributes, row) {
      guard let found = value.kind else { continue }
      let expected = attribute.type.kind
      let failure: ValidationFailure? =
        found != expected
        ? .wrongKind(expected: expected, found: found)
        : value.isNotANumber ? .notANumber : nil
      guard let failure else { continue }
      throw .validation(failure, entity: name, attribute: attribute.name, id: id.number)
    }
  }
}
