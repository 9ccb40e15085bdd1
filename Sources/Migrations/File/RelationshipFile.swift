import EntityModel
import EntityStore
import StrictYAML

/// Reads the arguments of `createRelationship`, `changeRelationship` and `dropRelationship`.
extension MigrationFile {
  func createRelationship(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try arguments.required("on").string()
    let destination = try arguments.required("to").string()
    let keyNode = arguments.optional("key")
    let side = try side(&arguments, manyIfUnsaid: false)
    let inverse: RelationshipDefinition.Side?
    if let node = arguments.optional("inverse") {
      var mapping = try node.mapping()
      inverse = try self.side(&mapping, manyIfUnsaid: true)
      try mapping.finish()
    } else {
      inverse = nil
    }
    let definition = RelationshipDefinition(
      entity: entity, destination: destination, side: side, inverse: inverse,
      key: try keyNode.map(keyPairs) ?? [])
    if let problem = problem(with: definition) { throw arguments.error(problem) }
    return .createRelationship(definition)
  }

  func changeRelationship(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try entity(&arguments)
    let name = try arguments.required("name").string()
    return .changeRelationship(
      entity: entity, name: name,
      deleteRule: try arguments.required("deleteRule").choice("a deleteRule"))
  }

  func dropRelationship(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try entity(&arguments)
    return .dropRelationship(entity: entity, name: try arguments.required("name").string())
  }

  private func side(
    _ arguments: inout YAMLMapping, manyIfUnsaid: Bool
  ) throws -> RelationshipDefinition.Side {
    let name = try identifier(try arguments.required("name"))
    let isToMany = try arguments.optional("many")?.bool() ?? manyIfUnsaid
    let orderNodes = [arguments.optional("ordered"), arguments.optional("orderBy")]
    let isOrdered = try orderNodes[0]?.bool() ?? false
    let orderBy = try orderNodes[1]?.string()
    if !isToMany, let node = orderNodes.compactMap({ $0 }).first {
      throw node.error("only a relationship with many: true has an order")
    }
    if isOrdered, let node = orderNodes[1] {
      throw node.error("choose ordered or orderBy, not both")
    }
    let optionalNode = arguments.optional("optional")
    if isToMany, let node = optionalNode {
      throw node.error("a relationship with many: true is always optional")
    }
    let rule: DeleteRule? = try arguments.optional("deleteRule")?.choice("a deleteRule")
    return .init(
      name: name, isToMany: isToMany, isOrdered: isOrdered, orderBy: orderBy,
      isOptional: try optionalNode?.bool() ?? true, deleteRule: rule ?? .nullify)
  }

  private func keyPairs(_ node: YAMLNode) throws -> [RelationshipDefinition.KeyPair] {
    var mapping = try node.mapping()
    var pairs: [RelationshipDefinition.KeyPair] = []
    for (own, _) in mapping.keys {
      pairs.append(.init(own: own, other: try mapping.required(own).string()))
    }
    guard (1..<IndexLayout.keyPartsMax).contains(pairs.count) else {
      throw node.error("a key has 1 to \(IndexLayout.keyPartsMax - 1) attributes")
    }
    guard Set(pairs.map(\.other)).count == pairs.count else {
      throw node.error("a key names each attribute of the destination once")
    }
    return pairs.sorted { $0.own < $1.own }
  }

  /// Returns the reason why no schema could satisfy the definition, or `nil`.
  private func problem(with definition: RelationshipDefinition) -> String? {
    let (side, inverse) = (definition.side, definition.inverse)
    let isOneToOne = !side.isToMany && inverse?.isToMany == false
    if definition.isItsOwnInverse, side != inverse {
      return "a relationship that is its own inverse says the same of both sides"
    }
    if definition.isItsOwnInverse,
      side.isOrdered || side.orderBy != nil || !side.isOptional || !definition.key.isEmpty
    {
      return "a relationship that is its own inverse has no order and no key, and is optional"
    }
    if definition.entity == definition.destination, !definition.isItsOwnInverse,
      inverse?.name == side.name
    {
      return "the relationship and its inverse have the same name"
    }
    if side.isToMany, inverse?.isToMany == true, side.orderBy != nil || inverse?.orderBy != nil {
      return "where both sides are to-many an order is said by ordered, not by orderBy"
    }
    if isOneToOne, inverse?.isOptional == false {
      return "of two to-one sides only the first can be required"
    }
    if definition.key.isEmpty { return nil }
    if side.isToMany { return "only a to-one relationship has a key" }
    if !side.isOptional { return "with a key the attributes of the key say what is required" }
    if inverse?.isOrdered == true {
      return "a relationship by key stores no order: write orderBy with an attribute"
    }
    return nil
  }
}
