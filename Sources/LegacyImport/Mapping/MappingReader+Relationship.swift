import EntityModel
import SchemaFiles
import StrictYAML
import TextFormats

/// Reads the sources of relationships.
extension MappingReader {
  mutating func relationships(
    _ node: YAMLNode, _ entity: EntityDescription
  ) throws -> [RelationshipMapping] {
    var entries = try node.mapping()
    var mappings: [RelationshipMapping] = []
    for (name, _) in entries.keys {
      let node = try entries.required(name)
      let relationship = try description(of: name, entity, at: node)
      let mapping = try self.relationship(node, relationship)
      add(Link(node: node, relationship: relationship, mapping: mapping))
      mappings.append(mapping)
    }
    return mappings
  }

  private func description(
    of name: String, _ entity: EntityDescription, at node: YAMLNode
  ) throws -> RelationshipDescription {
    let known = entity.relationships.filter { !$0.isHidden }
    guard let relationship = known.first(where: { $0.name == name }) else {
      if let attribute = entity.attribute(named: name), !attribute.isHidden {
        throw node.error("\(entity.name).\(name) is an attribute; map it under attributes")
      }
      throw node.error(
        "\(entity.name) has no relationship \"\(name)\"; "
          + NearestName.advice(
            on: name, among: known.map(\.name),
            otherwise: "add it with a migration, or remove it here"))
    }
    let inverse = schema.entity(named: relationship.destination)?
      .relationship(named: relationship.inverse)
    if relationship.isLinkedByKey || inverse?.isLinkedByKey == true {
      throw node.error(
        "\(entity.name).\(name) is linked by equal values; map the attributes of its key instead")
    }
    return relationship
  }

  private func relationship(
    _ node: YAMLNode, _ relationship: RelationshipDescription
  ) throws -> RelationshipMapping {
    var keys = try node.mapping()
    let source = try source(&keys, relationship, at: node)
    var mapping = RelationshipMapping(
      relationship: relationship.name, source: source, table: try keys.required("table").string())
    if let node = keys.optional("orphan") { mapping.orphan = try node.choice(named: "orphan") }
    mapping.unconfirmed = try keys.optional("unconfirmed").map(reason)
    try keys.finish()
    return mapping
  }

  private func source(
    _ keys: inout YAMLMapping, _ relationship: RelationshipDescription, at node: YAMLNode
  ) throws -> RelationshipMapping.Source {
    let forms = ["column", "columns", "join"].compactMap { keys.optional($0) }
    guard let form = forms.first, forms.count == 1 else {
      throw node.error(
        relationship.isToMany
          ? "name the table of the links with join"
          : "name the columns that have the key of the other row with column, or columns")
    }
    let isJoin = keys.keys.contains { $0.key == "join" }
    if relationship.isToMany, !isJoin {
      throw form.error(
        "\(relationship.name) is to-many: its links are rows of a table; use join")
    }
    if !relationship.isToMany, isJoin {
      throw form.error("\(relationship.name) is to-one: its link is in the row itself; use column")
    }
    guard isJoin else {
      if form.kind == .scalar { return .columns([try form.string()]) }
      return .columns(try names(form, "column"))
    }
    let owner = try columns(keys.required("owner"))
    let target = try columns(keys.required("target"))
    let order = keys.optional("order")
    if let order, !relationship.isOrdered {
      throw order.error("\(relationship.name) is not ordered; remove order")
    }
    return .join(
      table: try form.string(), owner: owner, target: target, order: try order?.string())
  }

  private func columns(_ node: YAMLNode) throws -> [String] {
    node.kind == .scalar ? [try node.string()] : try names(node, "column")
  }
}
