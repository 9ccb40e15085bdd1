import EntityModel
import EntityStore

/// The steps that create, change and drop attributes. Those that give all records another value are
/// in SchemaChange+Replacement.swift.
extension SchemaChange {
  mutating func addAttribute(
    _ attribute: AttributeDescription, to name: String, ifMissing: Bool
  ) throws(StoreError) {
    let number = try schema.number(of: name)
    if ifMissing, !isFree(attribute.name, in: number) { return }
    try requireFree(
      attribute.name, in: number,
      advice: "choose another name or leave the step out, unless a store has the file already")
    guard attribute.isOptional || !attribute.defaultValue.isNull else {
      throw StoreError(
        .migration, "an added attribute is optional or has a default",
        [("entity", name), ("attribute", attribute.name)])
    }
    schema.entities[number].add(attribute)
    schema.entities[number].addLayout()
  }

  /// Adds a derived attribute. All records get a value, so the attribute may be required and have
  /// no default.
  mutating func deriveAttribute(_ derivation: AttributeDerivation) throws(StoreError) {
    let number = try schema.number(of: derivation.entity)
    try requireFree(derivation.attribute.name, in: number)
    try check(derivation.expression, of: number)
    schema.entities[number].add(derivation.attribute)
    schema.entities[number].addLayout()
  }

  mutating func renameAttribute(
    _ name: String, of entity: String, to newName: String
  ) throws(StoreError) {
    let number = try schema.number(of: entity)
    let position = try attribute(name, of: number)
    try requireFree(newName, in: number)
    schema.entities[number].attributes[position].name = newName
  }

  mutating func dropAttribute(_ name: String, of entity: String) throws(StoreError) {
    let number = try schema.number(of: entity)
    let position = try attribute(name, of: number)
    let id = schema.entities[number].attributes[position].id
    try refuseRelationship(on: position, of: number)
    try refuseIndexes(with: id, of: number)
    schema.entities[number].attributes.remove(at: position)
    schema.entities[number].addLayout()
  }

  mutating func changeAttribute(_ change: AttributeChange) throws(StoreError) {
    let number = try schema.number(of: change.entity)
    let position = try attribute(change.name, of: number)
    var attribute = schema.entities[number].attributes[position]
    if let values = change.enumeration {
      guard case .enumeration(let old) = attribute.type, old.kind == values.kind else {
        throw StoreError(
          .migration, "the values are not those of another enum of the same kind",
          [
            ("entity", change.entity), ("attribute", change.name), ("type", attribute.type.name),
          ], advice: "change its type with retypeAttribute")
      }
      attribute.type = .enumeration(values)
    }
    attribute.isOptional = change.isOptional ?? attribute.isOptional
    attribute.owner = change.owner ?? attribute.owner
    try change.rules.apply(to: &attribute)
    if let value = change.defaultValue {
      guard let fitted = value.written(for: attribute) else { throw .misfit(value.text, attribute) }
      attribute.defaultValue = fitted
    }
    if !attribute.defaultValue.isNull {
      try check(attribute.defaultValue, for: attribute, "its default", of: number)
    }
    if let backfill = change.backfill { try check(backfill, for: attribute, of: number) }
    schema.entities[number].attributes[position] = attribute
    if change.isOptional == false { try checkUnlinking() }
  }

  // MARK: Parts

  /// Returns the position of an attribute that a file can name. An attribute that holds links is
  /// named by its relationship.
  func attribute(_ name: String, of number: Int) throws(StoreError) -> Int {
    let entity = schema.entities[number]
    if let relationship = entity.relationship(named: name) {
      throw StoreError(
        .migration, "this is a relationship, not an attribute",
        [("entity", entity.name), ("relationship", relationship.name)],
        advice: "write dropRelationship and createRelationship")
    }
    guard let position = entity.attributes.firstIndex(where: { $0.name == name && !$0.isHidden })
    else { throw .unknownAttribute(name, in: entity) }
    return position
  }

  private func isFree(_ name: String, in number: Int) -> Bool {
    let entity = schema.entities[number]
    return entity.attribute(named: name) == nil && entity.relationship(named: name) == nil
  }

  private func requireFree(
    _ name: String, in number: Int, advice: String? = nil
  ) throws(StoreError) {
    guard isFree(name, in: number) else {
      throw StoreError(
        .migration, "an attribute or a relationship of this name exists already",
        [("entity", schema.entities[number].name), ("attribute", name)], advice: advice)
    }
  }

  func refuseRelationship(on position: Int, of number: Int) throws(StoreError) {
    let attribute = schema.entities[number].attributes[position]
    guard let relationship = relationship(standingOn: attribute.id, of: number) else { return }
    throw StoreError(
      .migration, "a relationship uses the attribute",
      [
        ("entity", schema.entities[number].name), ("attribute", attribute.name),
        ("relationship", relationship),
      ], advice: "drop the relationship first (dropRelationship)")
  }

  func refuseIndexes(with id: Int, of number: Int) throws(StoreError) {
    let entity = schema.entities[number]
    let having = entity.indexes.filter { $0.keys.contains { $0.attributeID == id } }
    guard let index = having.first else { return }
    throw StoreError(
      .migration, "an index uses the attribute",
      [
        ("entity", entity.name),
        ("attribute", entity.attributes.first { $0.id == id }?.name ?? "#\(id)"),
        ("index", having.map(\.name).joined(separator: ", ")),
      ],
      advice: "put this step before: dropIndex: { on: \(entity.name), name: \(index.name) }")
  }
}

extension RuleChanges {
  /// Applies the changes of rules to an attribute.
  ///
  /// - Throws: `migration` for a bound of another type.
  fileprivate func apply(to attribute: inout AttributeDescription) throws(StoreError) {
    try RuleChanges.apply(min, to: &attribute.validation.min, of: attribute)
    try RuleChanges.apply(max, to: &attribute.validation.max, of: attribute)
    switch maxLength {
    case .stays: break
    case .goes: attribute.validation.maxLength = nil
    case .becomes(let length): attribute.validation.maxLength = length
    }
    switch pattern {
    case .stays: break
    case .goes: attribute.validation.pattern = nil
    case .becomes(let pattern): attribute.validation.pattern = pattern
    }
  }

  private static func apply(
    _ change: Change<Value>, to bound: inout Value, of attribute: AttributeDescription
  ) throws(StoreError) {
    switch change {
    case .stays: break
    case .goes: bound = .null
    case .becomes(let value):
      guard let fitted = value.written(for: attribute) else { throw .misfit(value.text, attribute) }
      bound = fitted
    }
  }
}
