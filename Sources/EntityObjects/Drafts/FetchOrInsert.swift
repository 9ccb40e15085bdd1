public import EntityModel
public import EntityStore

extension WriteTransaction {
  /// Returns the first record, in order of identity, that has these values, or inserts a new one.
  ///
  /// - Parameter attributes: At least one. Texts are compared by their bytes.
  /// - Parameter values: The other values of a new record.
  /// - Throws: `invalidRequest` without attributes; `unknownAttribute`; the errors of `insert`.
  /// - Complexity: O(log *n*) with an index on one of the attributes, else O(*n*).
  @discardableResult
  public func fetchOrInsert(
    _ entity: String, by attributes: [String: Value], orInsert values: [String: Value] = [:]
  ) throws -> (id: ObjectID, wasInserted: Bool) {
    if let found = try first(entity, having: attributes) { return (found, false) }
    return (try insert(entity, attributes.merging(values) { found, _ in found }), true)
  }

  /// Returns the first record, in order of identity, with this value, or inserts a new one.
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

  private func first(_ entity: String, having values: [String: Value]) throws -> ObjectID? {
    try first(entity, having: values) { try fetchIdentifiers($0).first?.number }
  }
}

extension ReadTransaction {
  /// Returns the number of the first record that has these values.
  ///
  /// - Parameter fetch: Returns the first number that a request finds.
  func first(
    _ entity: String, having values: [String: Value], _ fetch: (FetchRequest) throws -> Int64?
  ) throws -> ObjectID? {
    guard !values.isEmpty else {
      throw StoreError(
        .invalidRequest, "fetch-or-insert needs a value to fetch a record by",
        [("entity", entity)], advice: "name at least one attribute")
    }
    let layout = try catalog.entity(entity)
    let parts = try values.sorted { $0.key < $1.key }.map { name, value in
      FetchPredicate.comparison(
        .init(.path(name), .equal, try layout.expression(of: value, for: name)))
    }
    let request = FetchRequest(
      entityName: entity, predicate: parts.count == 1 ? parts[0] : .and(parts), fetchLimit: 1)
    return try fetch(request).map { ObjectID(entity: entity, number: $0) }
  }
}

extension EntityLayout {
  /// Returns the value as an expression. Predicates compare a reference with a record, not with its
  /// number.
  fileprivate func expression(
    of value: Value, for attribute: String
  ) throws(StoreError) -> FetchExpression {
    let type = description.attributes[try position(of: attribute)].type
    if case .reference(let destination) = type, case .int64(let number) = value {
      return .object(ObjectID(entity: destination, number: number))
    }
    return .value(value)
  }
}

extension Entity {
  static func require(
    _ found: Value, of attribute: String, toBe wanted: Value
  ) throws(StoreError) {
    if found == wanted { return }
    throw StoreError(
      .invalidRequest, "a new record lacks the value that it was looked for by",
      [("entity", entityName), ("attribute", attribute), ("value", wanted.text)],
      advice: "create it with that value")
  }
}
