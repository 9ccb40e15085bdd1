import EntityModel
import EntityStore
import SchemaFiles
import StrictYAML

/// Reads where the values of attributes come from.
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
      throw node.error("\(entity.name).\(name) is of the system; map to another attribute")
    }
    return attribute
  }

  /// `COLUMN`, or `{ column: COLUMN, … }`, or `{ value: … }`.
  private func attribute(
    _ node: YAMLNode, _ attribute: AttributeDescription
  ) throws -> AttributeMapping {
    if node.isNull {
      throw node.error("say from which column \(attribute.name) comes, or remove it")
    }
    if node.kind == .scalar {
      return AttributeMapping(
        attribute: attribute.name, type: attribute.type, source: .column(try node.string()))
    }
    var keys = try node.mapping()
    if let value = keys.optional("value") {
      guard keys.keys.count == 1 else {
        throw node.error("a value stands alone, for nothing is read; remove the other keys")
      }
      return AttributeMapping(
        attribute: attribute.name, type: attribute.type,
        source: .constant(try constant(value, attribute)))
    }
    var mapping = AttributeMapping(
      attribute: attribute.name, type: attribute.type,
      source: .column(try keys.required("column").string()))
    mapping.content = try content(&keys, attribute.type)
    if let node = keys.optional("badText") { mapping.badText = try choice(node, "badText") }
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
      throw keepBytes.error("keepBytes says what becomes of an archive; name its classes, too")
    }
    if let external, try external.bool() {
      guard type == .data else {
        throw external.error("what is external is data; the type is \(type.name)")
      }
      return .external
    }
    guard let archive else { return .value }
    let keepsBytes = try keepBytes?.bool() ?? false
    if let keepBytes, keepsBytes, type != .data {
      throw keepBytes.error("bytes are kept in data only; the type is \(type.name)")
    }
    return .archive(classes: Set(try names(archive, "class")), keepsBytes: keepsBytes)
  }

  func reason(_ node: YAMLNode) throws -> String {
    let reason = try node.string()
    if reason.isEmpty || node.isNull {
      throw node.error("say what is unconfirmed, or remove the key when it is confirmed")
    }
    return reason
  }
}
