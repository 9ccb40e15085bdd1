import EntityModel
import Migrations

/// The steps that add to a schema what a newer version of a file has. Nothing that exists is
/// changed but the values of enumerations, which get more.
struct SchemaAdditions {
  private(set) var steps: [MigrationStep] = []
  private let schema: Schema
  /// The types of the attributes that were added; `nil` for a name of a relationship.
  private var added: [String: [String: AttributeType?]] = [:]
  private var cases: [String: Enumeration] = [:]
  private var newEntities: Set<String> = []

  init(to schema: Schema) { self.schema = schema }

  func type(of attribute: String, _ entity: String) -> AttributeType? {
    if let enumeration = cases["\(entity).\(attribute)"] { return .enumeration(enumeration) }
    return schema.entity(named: entity)?.attribute(named: attribute)?.type
      ?? added[entity]?[attribute] ?? nil
  }

  /// Adds an entity under a free name.
  mutating func addEntity(_ name: String, _ attributes: [AttributeDescription]) -> String {
    let name = free(name) { schema.entity(named: $0) != nil || newEntities.contains($0) }
    newEntities.insert(name)
    added[name] = Dictionary(
      attributes.map { ($0.name, $0.type) }, uniquingKeysWith: { first, _ in first })
    steps.append(.createEntity(name: name, attributes: attributes, keepsHistory: true))
    return name
  }

  /// Returns the name of an attribute with this name and type, which is added unless it exists and
  /// is free for the entry of the mapping.
  mutating func attribute(
    _ description: AttributeDescription, of entity: String, besides used: Set<String>
  ) -> String {
    if !used.contains(description.name), type(of: description.name, entity) == description.type {
      return description.name
    }
    var attribute = description
    attribute.name = free(description.name) { isProperty($0, of: entity) }
    // There may be records already.
    attribute.isOptional = true
    added[entity, default: [:]][attribute.name] = .some(attribute.type)
    steps.append(.addAttribute(entity: entity, attribute))
    return attribute.name
  }

  /// Adds a value to the enumeration of an attribute, unless it has the value.
  mutating func addCase(_ value: Value, to attribute: String, of entity: String) {
    guard case .enumeration(let known)? = type(of: attribute, entity),
      case .string(let text) = value, known.name(of: value) == nil
    else { return }
    let key = "\(entity).\(attribute)"
    var all = cases[key] ?? known
    guard all.name(of: value) == nil else { return }
    all.cases.append(.init(name: text, rawValue: value))
    cases[key] = all
    steps.removeAll { step in
      if case .changeAttribute(let change) = step {
        return change.entity == entity && change.name == attribute
      }
      return false
    }
    var change = AttributeChange(entity: entity, name: attribute)
    change.enumeration = all
    steps.append(.changeAttribute(change))
  }

  /// Returns the names of the two sides of a relationship, which is added unless it exists.
  mutating func relationship(
    _ definition: RelationshipDefinition
  ) -> (own: String, inverse: String?) {
    let (entity, destination) = (definition.entity, definition.destination)
    let known = schema.entity(named: entity)?.relationship(named: definition.side.name)
    if let known, known.destination == destination, known.isToMany == definition.side.isToMany {
      return (definition.side.name, definition.inverse.map { _ in known.inverse })
    }
    let own = free(definition.side.name) { isProperty($0, of: entity) }
    added[entity, default: [:]][own] = .some(nil)
    var inverse: String?
    let isItsOwnInverse =
      entity == destination && definition.inverse?.name == definition.side.name
    if let side = definition.inverse {
      inverse = isItsOwnInverse ? own : free(side.name) { isProperty($0, of: destination) }
      if let inverse { added[destination, default: [:]][inverse] = .some(nil) }
    }
    steps.append(
      .createRelationship(
        RelationshipDefinition(
          entity: entity, destination: destination, side: definition.side.renamed(own),
          inverse: definition.inverse.flatMap { side in inverse.map { side.renamed($0) } })))
    return (own, inverse)
  }

  mutating func add(_ step: MigrationStep) { steps.append(step) }

  private func isProperty(_ name: String, of entity: String) -> Bool {
    let known = schema.entity(named: entity)
    return known?.attribute(named: name) != nil || known?.relationship(named: name) != nil
      || added[entity]?[name] != nil
  }

  private func free(_ name: String, _ isTaken: (String) -> Bool) -> String {
    var candidate = name
    var number = 2
    while isTaken(candidate) {
      candidate = String(name.prefix(60)) + String(number)
      number += 1
    }
    return candidate
  }
}

extension RelationshipDefinition.Side {
  fileprivate func renamed(_ name: String) -> Self {
    Self(
      name: name, isToMany: isToMany, isOrdered: isOrdered, orderBy: orderBy,
      isOptional: isOptional, deleteRule: deleteRule)
  }
}
