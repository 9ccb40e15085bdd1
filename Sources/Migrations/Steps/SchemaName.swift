import EntityModel

/// A name that only one line can use.
struct SchemaName: Hashable {
  enum Kind: Hashable, CaseIterable {
    case entity
    /// An attribute or a relationship.
    case property
    case index, template
  }

  let kind: Kind
  /// The name as text: `Episode`, `Episode.note`.
  let text: String

  static func entity(_ name: String) -> SchemaName { SchemaName(kind: .entity, text: name) }

  static func property(_ entity: String, _ name: String) -> SchemaName {
    SchemaName(kind: .property, text: "\(entity).\(name)")
  }

  static func index(_ entity: String, _ name: String) -> SchemaName {
    SchemaName(kind: .index, text: "\(entity).\(name)")
  }

  static func template(_ name: String) -> SchemaName { SchemaName(kind: .template, text: name) }

  func exists(in schema: Schema) -> Bool {
    if kind == .entity { return schema.entity(named: text) != nil }
    if kind == .template { return schema.templates.contains { $0.name == text } }
    let parts = text.split(separator: ".", maxSplits: 1).map(String.init)
    guard parts.count == 2, let entity = schema.entity(named: parts[0]) else { return false }
    return kind == .index
      ? entity.index(named: parts[1]) != nil
      : entity.attribute(named: parts[1]) != nil || entity.relationship(named: parts[1]) != nil
  }
}

extension MigrationStep {
  /// The names that the step creates.
  var makes: [SchemaName] {
    switch self {
    case .createEntity(let name, let attributes, _):
      [.entity(name)] + attributes.map { .property(name, $0.name) }
    case .renameEntity(_, let newName): [.entity(newName)]
    case .addAttribute(let entity, let attribute, _): [.property(entity, attribute.name)]
    case .renameAttribute(let entity, _, let newName): [.property(entity, newName)]
    case .deriveAttribute(let derivation):
      [.property(derivation.entity, derivation.attribute.name)]
    case .createIndex(let entity, let index): [.index(entity, index.name)]
    case .createRelationship(let definition):
      [.property(definition.entity, definition.side.name)]
        + (definition.inverse.map { [.property(definition.destination, $0.name)] } ?? [])
    case .createTemplate(let template): [.template(template.name)]
    default: []
    }
  }

  /// The names that must exist before the step.
  var needs: [SchemaName] {
    func properties(_ entity: String, _ names: [String]) -> [SchemaName] {
      [.entity(entity)] + names.map { .property(entity, $0) }
    }
    switch self {
    case .createEntity, .retainHistory, .importLegacy: return []
    case .renameEntity(let name, _), .dropEntity(let name): return [.entity(name)]
    case .addAttribute(let entity, _, _): return [.entity(entity)]
    case .renameAttribute(let entity, let name, _), .dropAttribute(let entity, let name),
      .changeRelationship(let entity, let name, _), .dropRelationship(let entity, let name):
      return properties(entity, [name])
    case .changeAttribute(let change): return properties(change.entity, [change.name])
    case .retypeAttribute(let retyping): return properties(retyping.entity, [retyping.name])
    case .deriveAttribute(let derivation): return [.entity(derivation.entity)]
    case .createIndex(let entity, let index):
      return properties(entity, index.keys.map(\.attribute))
    case .changeIndex(let entity, let index):
      return properties(entity, index.keys.map(\.attribute)) + [.index(entity, index.name)]
    case .dropIndex(let entity, let name): return [.entity(entity), .index(entity, name)]
    case .createRelationship(let definition):
      return properties(definition.entity, definition.key.map(\.own))
        + properties(definition.destination, definition.key.map(\.other))
    case .createTemplate(let template): return [.entity(template.request.entityName)]
    case .dropTemplate(let name): return [.template(name)]
    case .setHistory(let setting): return properties(setting.entity, setting.values ?? [])
    case .updateRows(let update): return properties(update.entity, update.set.keys.sorted())
    case .deleteRows(let entity, _): return [.entity(entity)]
    case .assert(let assertion): return [.entity(assertion.entity)]
    case .runCode(let code): return properties(code.entity, code.changes)
    }
  }
}
