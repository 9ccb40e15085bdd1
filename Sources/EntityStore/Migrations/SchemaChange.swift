import EntityModel

/// A schema to which migration steps are applied: pure, so that a plan uses the same code as a run.
struct SchemaChange {
  private(set) var schema: Schema

  /// - Throws: `migration` if the step does not fit the schema; the schema is then unchanged.
  mutating func apply(_ step: MigrationStep) throws(StoreError) {
    switch step {
    case .createEntity(let name, let attributes, let keepsHistory):
      try createEntity(name, attributes, keepsHistory: keepsHistory)
    case .addAttribute(let name, let attribute): try addAttribute(attribute, to: name)
    case .createIndex(let name, let definition): try createIndex(definition, on: name)
    case .dropIndex(let entity, let name): try dropIndex(name, of: entity)
    case .createRelationship(let definition):
      try RelationshipCreation.apply(definition, to: &schema)
    case .createTemplate(let template): try createTemplate(template)
    case .dropTemplate(let name): try dropTemplate(name)
    case .setHistory(let setting): try setHistory(setting)
    case .retainHistory(let retention): schema.historyRetention = retention
    }
  }

  /// Adds the migration's name to what goes wrong in one of its steps.
  static func naming<R>(
    _ migration: Migration, _ body: () throws(StoreError) -> R
  ) throws(StoreError) -> R {
    do throws(StoreError) {
      return try body()
    } catch {
      throw StoreError(
        error.code, error.summary,
        [("migration", "\(migration.line) \(migration.name)")]
          + error.context, advice: error.advice)
    }
  }

  private mutating func createEntity(
    _ name: String, _ attributes: [AttributeDescription], keepsHistory: Bool
  ) throws(StoreError) {
    if schema.entity(named: name) != nil {
      throw StoreError(.migration, "the entity is there already", [("entity", name)])
    }
    guard attributes.count <= Limits.attributesMax else {
      throw StoreError(.migration, "an entity has too many attributes", [("entity", name)])
    }
    var entity = EntityDescription(
      id: schema.nextEntityID, name: name, attributes: [], keepsHistory: keepsHistory)
    schema.nextEntityID += 1
    for attribute in attributes { entity.add(attribute) }
    entity.addLayout()
    schema.entities.append(entity)
  }

  private mutating func addAttribute(
    _ attribute: AttributeDescription, to name: String
  ) throws(StoreError) {
    let number = try number(of: name)
    guard schema.entities[number].attribute(named: attribute.name) == nil,
      schema.entities[number].relationship(named: attribute.name) == nil
    else {
      throw StoreError(
        .migration, "the attribute is there already",
        [("entity", name), ("attribute", attribute.name)])
    }
    guard attribute.isOptional || !attribute.defaultValue.isNull else {
      throw StoreError(
        .migration, "an added attribute is optional or has a default",
        [("entity", name), ("attribute", attribute.name)])
    }
    schema.entities[number].add(attribute)
    schema.entities[number].addLayout()
  }

  private mutating func createIndex(
    _ definition: IndexDefinition, on name: String
  ) throws(StoreError) {
    let number = try number(of: name)
    let entity = schema.entities[number]
    guard entity.index(named: definition.name) == nil else {
      throw StoreError(
        .migration, "the index is there already", [("entity", name), ("index", definition.name)])
    }
    var keys: [IndexKey] = []
    var lists = 0
    for key in definition.keys {
      guard let attribute = entity.attribute(named: key.attribute) else {
        throw .unknownAttribute(key.attribute, in: entity)
      }
      if attribute.type.kind == .strings { lists += 1 }
      guard key.collation == .binary || attribute.type == .string else {
        throw StoreError(
          .migration, "a collation is for attributes of the type string",
          [("entity", name), ("index", definition.name), ("key", key.description)],
          advice: "leave it out")
      }
      keys.append(
        IndexKey(
          attributeID: attribute.id, isDescending: key.isDescending, collation: key.collation))
    }
    guard lists <= 1, Set(keys.map(\.attributeID)).count == keys.count else {
      throw StoreError(
        .migration, "an index has at most one list and each attribute once",
        [("entity", name), ("index", definition.name)])
    }
    schema.entities[number].indexes.append(
      IndexDescription(
        id: schema.nextIndexID, name: definition.name, keys: keys, isUnique: definition.isUnique,
        isSparse: definition.isSparse, collationVersion: try KeyCollation.version(of: keys)))
    schema.nextIndexID += 1
  }

  private mutating func dropIndex(_ name: String, of entity: String) throws(StoreError) {
    let number = try number(of: entity)
    guard let index = schema.entities[number].indexes.firstIndex(where: { $0.name == name }) else {
      throw StoreError(.migration, "no such index", [("entity", entity), ("index", name)])
    }
    var changed = schema
    changed.entities[number].indexes.remove(at: index)
    try checkRelationships(of: changed, without: name, of: entity)
    schema = changed
  }

  /// Relationships are read through indexes: their own, and the unique one on a key.
  private func checkRelationships(
    of schema: Schema, without index: String, of entity: String
  ) throws(StoreError) {
    for other in schema.entities {
      for relationship in other.relationships {
        do throws(RelationshipBinding.Problem) {
          _ = try RelationshipBinding(relationship, of: other, in: schema)
        } catch {
          throw StoreError(
            .migration, "a relationship needs the index",
            [
              ("entity", entity), ("index", index),
              ("relationship", "\(other.name).\(relationship.name)"),
            ])
        }
      }
    }
  }

  private mutating func createTemplate(_ template: RequestTemplate) throws(StoreError) {
    if schema.templates.contains(where: { $0.name == template.name }) {
      throw StoreError(
        .migration, "the template is there already", [("template", template.name)],
        advice: "a template never changes: drop it first, or choose another name")
    }
    do throws(TemplateCheck.Problem) {
      try TemplateCheck.check(template.request, in: schema)
    } catch {
      throw StoreError(
        .migration, "a template does not fit the schema",
        [("template", template.name), ("problem", error.text)])
    }
    schema.templates.append(template)
    schema.templates.sort { $0.name < $1.name }
  }

  private mutating func dropTemplate(_ name: String) throws(StoreError) {
    guard let number = schema.templates.firstIndex(where: { $0.name == name }) else {
      let error = StoreError.unknownTemplate(name, in: schema)
      throw StoreError(.migration, error.summary, error.context, advice: error.advice)
    }
    schema.templates.remove(at: number)
  }

  private mutating func setHistory(_ setting: HistorySetting) throws(StoreError) {
    let number = try number(of: setting.entity)
    if schema.entities[number].isSystem {
      throw StoreError(
        .migration, "a system entity has no history", [("entity", setting.entity)])
    }
    if let isKept = setting.isKept { schema.entities[number].keepsHistory = isKept }
    guard let values = setting.values else { return }
    for name in values where schema.entities[number].attribute(named: name) == nil {
      throw .unknownAttribute(name, in: schema.entities[number])
    }
    for position in schema.entities[number].attributes.indices {
      let name = schema.entities[number].attributes[position].name
      schema.entities[number].attributes[position].keepsHistory = values.contains(name)
    }
  }

  private func number(of entity: String) throws(StoreError) -> Int {
    guard let number = schema.entities.firstIndex(where: { $0.name == entity }) else {
      throw .unknownEntity(entity, in: schema)
    }
    return number
  }
}

extension EntityDescription {
  mutating func add(_ attribute: AttributeDescription) {
    var attribute = attribute
    attribute.id = nextAttributeID
    nextAttributeID += 1
    attributes.append(attribute)
  }

  mutating func addLayout() {
    layouts.append(
      RecordShape(slots: attributes.map { .init(attributeID: $0.id, kind: $0.type.kind) }))
  }
}
