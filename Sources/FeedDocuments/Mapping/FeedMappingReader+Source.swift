import EntityModel
import SchemaFiles
import StrictYAML
import TextFormats

/// Reads the sources of values.
extension FeedMappingReader {
  func attributes(
    _ node: YAMLNode, of entities: [EntityDescription], hasUpdate: Bool
  ) throws -> [AttributeSource] {
    var entries = try node.mapping()
    var attributes: [AttributeSource] = []
    for (name, _) in entries.keys {
      let node = try entries.required(name)
      if name == "updatedAt", hasUpdate {
        throw node.error("updatedAt is already a key of its own; remove it here")
      }
      guard let description = try self.attribute(name, of: entities, at: node) else { continue }
      do {
        attributes.append(try attribute(node, description))
      } catch  where isBuiltIn {
        // The attribute is of another type than the format's member: as good as none.
        continue
      }
    }
    return attributes
  }

  /// Returns the attribute that keeps unknown members; nil if a built-in mapping finds none.
  func extra(
    _ node: YAMLNode, of entities: [EntityDescription], beside attributes: [AttributeSource]
  ) throws -> ExtraAttribute? {
    let name = try node.string()
    guard let description = try attribute(name, of: entities, at: node) else { return nil }
    if attributes.contains(where: { $0.name == name }) {
      throw node.error("\(name) is already in attributes; name another attribute here")
    }
    if let extra = ExtraAttribute(description) { return extra }
    if isBuiltIn { return nil }
    throw node.error(
      "extra needs an optional attribute of type string or data; \(name) is "
        + (description.isOptional ? "of type \(description.type.name)" : "not optional"))
  }

  /// Returns the attribute; nil if a built-in mapping ignores it.
  private func attribute(
    _ name: String, of entities: [EntityDescription], at node: YAMLNode
  ) throws -> AttributeDescription? {
    var description: AttributeDescription?
    for entity in entities {
      let found = try attribute(name, of: entity, at: node)
      if let first = description, let found, first.type != found.type {
        throw node.error("\(name) has another type in \(entity.name); use a group for each entity")
      }
      description = description ?? found
    }
    return description
  }

  private func attribute(
    _ name: String, of entity: EntityDescription, at node: YAMLNode
  ) throws -> AttributeDescription? {
    guard let attribute = entity.attribute(named: name) else {
      if isBuiltIn { return nil }
      let names = entity.attributes.filter(\.isForFeeds).map(\.name)
      throw node.error(
        "\(entity.name) has no attribute \"\(name)\"; "
          + NearestName.advice(
            on: name, among: names, otherwise: "add it with a migration, or remove the line"))
    }
    if attribute.isForFeeds { return attribute }
    if isBuiltIn { return nil }
    throw node.error(
      attribute.owner == .local
        ? "\(entity.name).\(name) belongs to the user, not to feeds; remove the line"
        : "\(entity.name).\(name) is a system attribute; map to another one")
  }

  private func attribute(
    _ node: YAMLNode, _ description: AttributeDescription
  ) throws -> AttributeSource {
    var attribute = AttributeSource(
      name: description.name, source: ValueSource(place: .pointers([]), type: description.type))
    guard node.kind == .mapping else {
      attribute.source.place = try place(node)
      return attribute
    }
    var keys = try node.mapping()
    attribute.isRequired = try keys.optional("required")?.bool() ?? false
    attribute.isVolatile = try keys.optional("volatile")?.bool() ?? false
    if let node = keys.optional("default") {
      let value = try ConversionFile.value(node, of: description.type)
      if attribute.isRequired {
        throw node.error("default and required exclude each other; remove one of them")
      }
      if let failure = try AttributeValidator(description).failure(of: value) {
        throw node.error("the default of \(description.name): \(failure)")
      }
      attribute.defaultValue = value
    }
    attribute.source = try valueSource(&keys, at: node, of: description.type)
    if case .constant(let value) = attribute.source.place,
      let failure = try AttributeValidator(description).failure(of: value)
    {
      throw node.error("the value of \(description.name): \(failure)")
    }
    try keys.finish()
    return attribute
  }

  /// Reads a source in its short or its full form, with no other keys beside it.
  func source(_ node: YAMLNode, of type: AttributeType) throws -> ValueSource {
    guard node.kind == .mapping else { return ValueSource(place: try place(node), type: type) }
    var keys = try node.mapping()
    let source = try valueSource(&keys, at: node, of: type)
    try keys.finish()
    return source
  }

  /// Reads the keys of a source and leaves any others to the caller.
  func valueSource(
    _ keys: inout YAMLMapping, at node: YAMLNode, of type: AttributeType
  ) throws -> ValueSource {
    let at = keys.optional("at")
    let path = keys.optional("path")
    let count = keys.optional("count")
    let template = keys.optional("template")
    let value = keys.optional("value")
    guard [at, path, count, template, value].count(where: { $0 != nil }) == 1 else {
      throw node.error(
        "name the source of the value with one of at, path, count, template, value")
    }
    if let value {
      if value.isNull { throw value.error("a value is not null; remove the line instead") }
      return ValueSource(
        place: .constant(try ConversionFile.value(value, of: type)), type: type)
    }
    var place = ValueSource.Place.pointers([])
    if let at { place = .pointers(try pointers(at)) }
    if let path { place = .nodes(try paths(path)) }
    if let count { place = .count(try self.path(count)) }
    if let template { place = .template(try parsed(template) { try URLTemplate($0) }) }
    var source = ValueSource(place: place, type: type)
    if let node = keys.optional("duration") {
      guard [.int64, .double, .decimal].contains(type) else {
        throw node.error("a duration becomes a number of seconds; the type is \(type.name)")
      }
      source.duration = try choice(node, "form of durations", DurationForm.self)
    }
    source.conversion = try ConversionFile.conversion(in: &keys, to: type)
    return source
  }

  /// Reads a pointer, a list of pointers, a path or a list of paths.
  private func place(_ node: YAMLNode) throws -> ValueSource.Place {
    let first = node.kind == .sequence ? try node.sequence().first : node
    if let first, first.kind == .scalar, try first.string().hasPrefix("$") {
      return .nodes(try paths(node))
    }
    return .pointers(
      try pointers(
        node, "write a pointer (/title), a list of them, a path ($.tags[*]) or a mapping"))
  }
}

extension AttributeDescription {
  /// True if a mapping may name the attribute.
  fileprivate var isForFeeds: Bool {
    !isHidden && !isLink && owner == .feed && !FeedMapping.systemAttributes.contains(name)
  }
}
