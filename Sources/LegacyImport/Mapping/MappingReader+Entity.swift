import EntityModel
import EntityStore
import SchemaFiles
import StrictYAML
import TextFormats

/// Reads the mapping of one table.
extension MappingReader {
  mutating func entity(_ node: YAMLNode) throws -> EntityMapping {
    var keys = try node.mapping()
    let entity = try description(keys.required("entity"))
    var mapping = EntityMapping(
      entity: entity.name, table: try keys.required("table").string(), key: [])
    if let node = keys.optional("formerTable") {
      mapping.formerTable = try node.string()
      if mapping.formerTable == mapping.table {
        throw node.error("formerTable is another name than table; remove it")
      }
    }
    if let node = keys.optional("where") { mapping.filter.isOneOf = try conditions(node) }
    if let node = keys.optional("unless") { mapping.filter.isNoneOf = try conditions(node) }
    mapping.key = try names(keys.required("key"), "column")
    let match = keys.optional("match")
    if let node = keys.optional("attributes") { mapping.attributes = try attributes(node, entity) }
    if let match { mapping.match = try self.match(match, mapping, entity) }
    if let node = keys.optional("relationships") {
      mapping.relationships = try relationships(node, entity)
    }
    try keys.finish()
    try checkRequired(mapping, entity, at: node)
    return mapping
  }

  private func description(_ node: YAMLNode) throws -> EntityDescription {
    let name = try node.string()
    if let entity = schema.entity(named: name) {
      if entity.isSystem { throw node.error("\(name) is a system entity; map another one") }
      return entity
    }
    let names = schema.entities.filter { !$0.isSystem }.map(\.name)
    throw node.error(
      "there is no entity \"\(name)\"; "
        + NearestName.advice(
          on: name, among: names, otherwise: "apply the migration that creates it first"))
  }

  /// Reads a filter such as `{ Z_ENT: [3], ZKIND: [null, a] }`.
  private func conditions(_ node: YAMLNode) throws -> [String: Set<String?>] {
    var columns = try node.mapping()
    var conditions: [String: Set<String?>] = [:]
    for (column, _) in columns.keys {
      let values = try columns.required(column)
      let words = try values.sequence().map { try $0.isNull ? nil : ConversionFile.word($0) }
      if words.isEmpty {
        throw values.error("name at least one value of \"\(column)\", or remove it")
      }
      conditions[column] = Set(words)
    }
    if conditions.isEmpty { throw node.error("name at least one column, or leave the key out") }
    return conditions
  }

  /// Reads the attributes of `match`: those of one unique index, each of them mapped.
  private func match(
    _ node: YAMLNode, _ mapping: EntityMapping, _ entity: EntityDescription
  ) throws -> [String] {
    let names = try names(node, "attribute")
    for name in names {
      guard entity.attribute(named: name) != nil else { throw unknown(name, of: entity, at: node) }
      guard mapping.attributes.contains(where: { $0.attribute == name }) else {
        throw node.error("records are matched by \(name), which is not mapped; map it")
      }
    }
    let sets = entity.uniqueAttributeSets
    if sets.contains(Set(names)) { return names }
    let known = sets.map { "[" + $0.sorted().joined(separator: ", ") + "]" }.sorted()
    throw node.error(
      "\(entity.name) has no unique index on exactly these attributes; "
        + (known.isEmpty
          ? "it has none at all: remove match, or add one with a migration"
          : "it has one on \(known.joined(separator: " and on "))"))
  }

  /// Checks that each required attribute without a default is mapped.
  private func checkRequired(
    _ mapping: EntityMapping, _ entity: EntityDescription, at node: YAMLNode
  ) throws {
    let mapped = Set(mapping.attributes.map(\.attribute))
    for attribute in entity.attributes
    where !attribute.isOptional && attribute.defaultValue.isNull && !attribute.isHidden
      && !attribute.isReference && !mapped.contains(attribute.name)
    {
      throw node.error(
        "\(entity.name).\(attribute.name) is required and has no default; map it, or make it "
          + "optional in a migration")
    }
  }

  func unknown(_ name: String, of entity: EntityDescription, at node: YAMLNode) -> YAMLError {
    let names = entity.attributes.filter { !$0.isHidden && !$0.isReference }.map(\.name)
    return node.error(
      "\(entity.name) has no attribute \"\(name)\"; "
        + NearestName.advice(
          on: name, among: names, otherwise: "add it with a migration, or skip the column"))
  }
}

extension AttributeDescription {
  /// True if the attribute has the link of a relationship.
  var isReference: Bool { if case .reference = type { true } else { false } }
}

extension EntityDescription {
  /// The sets of attributes whose values identify a record. An index on a list has several entries
  /// for a record and is left out.
  fileprivate var uniqueAttributeSets: [Set<String>] {
    indexes.filter(\.isUnique).compactMap { index in
      let keys = index.keys.map { key in attributes.first { $0.id == key.attributeID } }
      let found = keys.compactMap { $0 }.filter {
        !$0.isHidden && !$0.isReference && $0.type != .strings
      }
      return found.count == keys.count ? Set(found.map(\.name)) : nil
    }
  }
}
