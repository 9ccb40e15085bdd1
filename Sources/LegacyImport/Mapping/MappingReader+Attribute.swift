import EntityModel
import EntityStore
import SchemaFiles
import StrictYAML

/// Reads the sources of attributes.
extension MappingReader {
  func attributes(
    _ node: YAMLNode, _ entity: EntityDescription
  ) throws -> [AttributeMapping] {
    var entries = try node.mapping()
    return try entries.keys.map { name, _ in
      let node = try entries.required(name)
      return try attribute(node, try description(of: name, entity, at: node))
    }
  }

  private func description(
    of name: String, _ entity: EntityDescription, at node: YAMLNode
  ) throws -> AttributeDescription {
    if let relationship = entity.relationship(named: name), !relationship.isHidden {
      throw node.error("\(entity.name).\(name) is a relationship; map it under relationships")
    }
    guard let attribute = entity.attribute(named: name) else {
      throw unknown(name, of: entity, at: node)
    }
    if attribute.isHidden || attribute.isReference {
      throw node.error("\(entity.name).\(name) is a system attribute; map another one")
    }
    return attribute
  }

  /// Reads `COLUMN`, `{ column: COLUMN, … }` or `{ value: … }`.
  private func attribute(
    _ node: YAMLNode, _ attribute: AttributeDescription
  ) throws -> AttributeMapping {
    if node.isNull {
      throw node.error("name the column of \(attribute.name), or remove it")
    }
    if node.kind == .scalar {
      return AttributeMapping(
        attribute: attribute.name, type: attribute.type, source: .column(try node.string()))
    }
    var keys = try node.mapping()
    if let value = keys.optional("value") {
      guard keys.keys.count == 1 else {
        throw node.error("value is used alone, because no column is read; remove the other keys")
      }
      return AttributeMapping(
        attribute: attribute.name, type: attribute.type,
        source: .constant(try constant(value, attribute)))
    }
    var mapping = AttributeMapping(
      attribute: attribute.name, type: attribute.type,
      source: .column(try keys.required("column").string()))
    mapping.content = try content(&keys, attribute.type)
    if let node = keys.optional("missingFile") {
      guard mapping.content == .external else {
        throw node.error("missingFile is for values in files; add external: true, or remove it")
      }
      mapping.missingFile = try node.choice(named: "missingFile")
    }
    if let node = keys.optional("badText") { mapping.badText = try node.choice(named: "badText") }
    mapping.unconfirmed = try keys.optional("unconfirmed").map(reason)
    mapping.conversion = try ConversionFile.conversion(in: &keys, to: attribute.type)
    try keys.finish()
    return mapping
  }

  private func constant(_ node: YAMLNode, _ attribute: AttributeDescription) throws -> Value {
    if node.isNull { throw node.error("a value is not null; remove \(attribute.name) instead") }
    let value = try ConversionFile.value(node, of: attribute.type)
    if let failure = try AttributeValidator(attribute).failure(of: value) {
      throw node.error("the value of \(attribute.name): \(failure)")
    }
    return value
  }

  private func content(
    _ keys: inout YAMLMapping, _ type: AttributeType
  ) throws -> AttributeMapping.Content {
    let external = keys.optional("external")
    let archive = keys.optional("archive")
    let keepBytes = keys.optional("keepBytes")
    if let external, archive != nil {
      throw external.error("a column is external or holds an archive; remove one of the two")
    }
    if let keepBytes, archive == nil {
      throw keepBytes.error("keepBytes is for archives; name their classes with archive")
    }
    if let external, try external.bool() {
      guard type == .data else {
        throw external.error("external values are data; the type is \(type.name)")
      }
      return .external
    }
    guard let archive else { return .value }
    let keepsBytes = try keepBytes?.bool() ?? false
    if let keepBytes, keepsBytes, type != .data {
      throw keepBytes.error("only data holds the bytes of an archive; the type is \(type.name)")
    }
    return .archive(classes: Set(try names(archive, "class")), keepsBytes: keepsBytes)
  }

  func reason(_ node: YAMLNode) throws -> String {
    let reason = try node.string()
    if reason.isEmpty || node.isNull {
      throw node.error("write the reason, or remove the key after confirming the guess")
    }
    return reason
  }
}
