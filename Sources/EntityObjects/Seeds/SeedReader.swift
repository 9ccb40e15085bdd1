import EntityModel
import EntityStore
import Foundation
import TextFormats

/// Reads the objects of a seed file by a schema, which defines the entities, attributes and
/// relationships and the types of the values. It also resolves the labels.
struct SeedReader {
  private static let labelKey = "$label"

  private let schema: Schema
  private let now: Date
  /// The entity of each object with a label.
  private var labels: [String: String] = [:]

  init(_ schema: Schema, now: Date) {
    self.schema = schema
    self.now = now
  }

  /// Reads the objects.
  ///
  /// - Throws: `seed`, or the error of the format, with the place.
  mutating func plan(_ root: some SeedNode) throws -> SeedPlan {
    var plan = SeedPlan()
    var mapping = try root.mapping()
    for entity in entitiesInOrder() {
      guard let list = mapping.optional(entity.name) else { continue }
      for node in try list.sequence() { plan.objects.append(try object(node, of: entity)) }
    }
    try mapping.finish()
    for object in plan.objects {
      for link in object.links { try link.targets.forEach(checkLabel) }
    }
    return plan
  }

  /// Returns the entities of the schema, each after those that its records require.
  private func entitiesInOrder() -> [EntityDescription] {
    var ordered: [EntityDescription] = []
    var seen: Set<String> = []
    func visit(_ entity: EntityDescription) {
      guard seen.insert(entity.name).inserted else { return }
      for relationship in entity.relationships where relationship.isNeeded(by: entity) {
        if let destination = schema.entity(named: relationship.destination) { visit(destination) }
      }
      ordered.append(entity)
    }
    for entity in schema.entities where !entity.isSystem { visit(entity) }
    return ordered
  }

  private mutating func object(
    _ node: some SeedNode, of entity: EntityDescription
  ) throws -> SeedObject {
    var mapping = try node.mapping()
    let labelNode = mapping.optional(Self.labelKey)
    let label = try labelNode?.string()
    if let labelNode, let label, labels.updateValue(entity.name, forKey: label) != nil {
      throw StoreError.seed(
        at: labelNode.place, "the label \"\(label)\" is there already; each object has its own")
    }
    var object = SeedObject(entity: entity, place: node.place, label: label)
    object.values = try values(&mapping, of: entity)
    for relationship in entity.relationships where !relationship.isHidden {
      guard let node = mapping.optional(relationship.name), !node.isNull else { continue }
      let nodes = relationship.isToMany ? try node.sequence() : [node]
      object.links.append((relationship, try nodes.map { try target($0, of: relationship) }))
    }
    try mapping.finish()
    return object
  }

  private func values(
    _ mapping: inout some SeedMapping<some SeedNode>, of entity: EntityDescription
  ) throws -> [String: Value] {
    var values: [String: Value] = [:]
    for attribute in entity.attributes where !attribute.isHidden && !attribute.isReference {
      if let node = mapping.optional(attribute.name) {
        values[attribute.name] = try node.value(attribute.type.kind, now: now)
      }
    }
    return values
  }

  private func target(
    _ node: some SeedNode, of relationship: RelationshipDescription
  ) throws -> SeedTarget {
    let name = relationship.destination
    var mapping = try node.mapping()
    if let label = mapping.optional(Self.labelKey) {
      try mapping.finish()
      return SeedTarget(entity: name, key: .label(try label.string()), place: label.place)
    }
    guard let destination = schema.entity(named: name) else {
      throw StoreError.unknownEntity(name, in: schema)
    }
    let values = try values(&mapping, of: destination)
    try mapping.finish()
    guard !values.isEmpty else {
      throw StoreError.seed(
        at: node.place, "name a record of \(name) by the attributes of a unique index, or by $label"
      )
    }
    return SeedTarget(entity: name, key: .attributes(values), place: node.place)
  }

  private func checkLabel(_ target: SeedTarget) throws {
    guard case .label(let label) = target.key else { return }
    guard let entity = labels[label] else {
      let advice = NearestName.advice(
        on: label, among: labels.keys.sorted(), otherwise: "give it to one with $label")
      throw StoreError.seed(
        at: target.place, "no object has the label \"\(label)\"; \(advice)")
    }
    guard entity == target.entity else {
      throw StoreError.seed(
        at: target.place,
        "\"\(label)\" is the label of a record of \(entity); the relationship leads to "
          + target.entity)
    }
  }
}

extension AttributeDescription {
  /// True if the attribute holds a relationship. A seed file then names the relationship, not the
  /// attribute.
  fileprivate var isReference: Bool {
    if case .reference = type { true } else { false }
  }
}
