import EntityModel
import EntityStore
import TextFormats

/// A schema to which migration steps are applied. It has no side effects, so that plans and runs
/// use the same code.
///
/// Ids are never used again, and layouts are only appended, because a record names the layout that
/// it was written in. An attribute whose values are replaced gets a new id, so that old and new
/// values cannot be confused.
struct SchemaChange {
  /// The schema; only `apply` changes it.
  var schema: Schema

  /// Applies a step.
  ///
  /// - Throws: `migration`, `unknownEntity`, `unknownAttribute` if the step does not fit the
  ///   schema; the schema is then unchanged.
  mutating func apply(_ step: MigrationStep) throws(StoreError) {
    var changed = self
    try changed.carryOut(step)
    let names = changed.schema.namesOfChangedEntities(since: schema)
    try changed.checkWhatUsesIt(names)
    try changed.checkLimits(names)
    self = changed
  }

  private mutating func carryOut(_ step: MigrationStep) throws(StoreError) {
    switch step {
    case .createEntity(let name, let attributes, let keepsHistory):
      try createEntity(name, attributes, keepsHistory: keepsHistory)
    case .renameEntity(let name, let newName): try renameEntity(name, to: newName)
    case .dropEntity(let name): try dropEntity(name)
    case .addAttribute(let name, let attribute, let ifMissing):
      try addAttribute(attribute, to: name, ifMissing: ifMissing)
    case .renameAttribute(let entity, let name, let newName):
      try renameAttribute(name, of: entity, to: newName)
    case .changeAttribute(let change): try changeAttribute(change)
    case .retypeAttribute(let retyping): try retypeAttribute(retyping)
    case .deriveAttribute(let derivation): try deriveAttribute(derivation)
    case .dropAttribute(let entity, let name): try dropAttribute(name, of: entity)
    case .createIndex(let name, let definition): try createIndex(definition, on: name)
    case .changeIndex(let name, let definition): try changeIndex(definition, on: name)
    case .dropIndex(let entity, let name): try dropIndex(name, of: entity)
    case .createRelationship(let definition):
      try RelationshipCreation.apply(definition, to: &schema)
    case .changeRelationship(let entity, let name, let deleteRule):
      try changeRelationship(name, of: entity, deleteRule: deleteRule)
    case .dropRelationship(let entity, let name): try dropRelationship(name, of: entity)
    case .createTemplate(let template): try createTemplate(template)
    case .dropTemplate(let name): try dropTemplate(name)
    case .setHistory(let setting): try setHistory(setting)
    case .retainHistory(let retention): schema.historyRetention = retention
    case .updateRows(let update): try checkRows(update)
    case .deleteRows(let entity, let predicate): try checkRows(of: entity, predicate)
    case .assert(let assertion): try checkRows(of: assertion.entity, assertion.predicate)
    case .runCode(let code): try replaceAttributes(changedBy: code)
    case .importLegacy: break
    }
  }

  /// Applies a step of a migration, whose name is added to the error.
  ///
  /// - Throws: `migration`, also for an unknown name: that is an error in the file, not of the
  ///   caller.
  mutating func apply(_ step: MigrationStep, of migration: Migration) throws(StoreError) {
    do throws(StoreError) {
      try apply(step)
    } catch {
      throw StoreError(
        .migration, error.summary, error.context,
        advice: error.advice ?? "correct the step; `mooring migrate lint` shows which one it is"
      ).naming(migration)
    }
  }

  // MARK: Checks after each step

  /// Checks the parts that depend on the changed one: relationships depend on attributes and on
  /// indexes, their own and the unique one on a key; templates name attributes and relationships.
  ///
  /// - Parameter changed: The names of the entities that the step changes.
  private func checkWhatUsesIt(_ changed: Set<String>) throws(StoreError) {
    for entity in schema.entities {
      for relationship in entity.relationships
      where changed.contains(entity.name) || relationship.uses(changed) {
        do throws(RelationshipBinding.Problem) {
          _ = try RelationshipBinding(relationship, of: entity, in: schema)
        } catch {
          throw StoreError(
            .migration, "a relationship needs what the step removes",
            [("relationship", "\(entity.name).\(relationship.name)"), ("problem", error.text)],
            advice: "drop the relationship first (dropRelationship)")
        }
      }
    }
    for template in schema.templates {
      do throws(TemplateCheck.Problem) {
        try TemplateCheck.check(template.request, in: schema)
      } catch {
        throw StoreError(
          .migration, "a template does not fit the schema after this step",
          [("template", template.name), ("problem", error.text)],
          advice: "drop the template first (dropTemplate), and create it again afterward")
      }
    }
  }

  private func checkLimits(_ changed: Set<String>) throws(StoreError) {
    let trees = schema.entities.indices.reduce(0) { $0 + 1 + schema.entities[$1].indexes.count }
    guard trees <= StoreLimits.entitiesAndIndexesMax else {
      throw StoreError(
        .migration, "a store cannot have so many entities and indexes",
        [("limit", String(StoreLimits.entitiesAndIndexesMax))],
        advice: "leave some out, or divide them among several stores")
    }
    for entity in schema.entities where changed.contains(entity.name) {
      guard entity.attributes.count <= StoreLimits.attributesMax else {
        throw StoreError(
          .migration, "an entity has too many attributes",
          [("entity", entity.name), ("limit", String(StoreLimits.attributesMax))])
      }
      guard entity.layouts.count <= StoreLimits.layoutsMax else {
        throw StoreError(
          .migration, "an entity has been changed too often",
          [("entity", entity.name), ("limit", String(StoreLimits.layoutsMax))],
          advice: "create another entity")
      }
    }
  }

  // MARK: Templates and history

  private mutating func createTemplate(_ template: RequestTemplate) throws(StoreError) {
    if schema.templates.contains(where: { $0.name == template.name }) {
      throw StoreError(
        .migration, "the template exists already", [("template", template.name)],
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
    let number = try schema.number(of: setting.entity)
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

  // MARK: Parts
}

extension Schema {
  /// Returns the names of the entities that differ between two schemas, before and after.
  fileprivate func namesOfChangedEntities(since old: Schema) -> Set<String> {
    var names: Set<String> = []
    for number in 0..<max(entities.count, old.entities.count) {
      if number < entities.count, number < old.entities.count,
        entities[number].name == old.entities[number].name,
        entities[number].attributes == old.entities[number].attributes,
        entities[number].layouts == old.entities[number].layouts,
        entities[number].indexes == old.entities[number].indexes,
        entities[number].relationships == old.entities[number].relationships
      {
        continue
      }
      if number < entities.count { names.insert(entities[number].name) }
      if number < old.entities.count { names.insert(old.entities[number].name) }
    }
    return names
  }

  /// Returns the place of an entity among the entities.
  ///
  /// - Throws: `unknownEntity`.
  func number(of entity: String) throws(StoreError) -> Int {
    guard let number = entities.firstIndex(where: { $0.name == entity }) else {
      throw .unknownEntity(entity, in: self)
    }
    return number
  }

  /// Returns an entity without attributes, with the next id. In a store with seals its records have
  /// seals from the first one on.
  mutating func makeEntity(named name: String, keepsHistory: Bool = true) -> EntityDescription {
    defer { nextEntityID += 1 }
    return EntityDescription(
      id: nextEntityID, name: name, attributes: [], keepsHistory: keepsHistory,
      seals: isSealed ? RecordSeals(since: 1, isComplete: true) : nil)
  }
}

extension RelationshipDescription {
  /// Returns true if the destination, or the entity of the links, is one of these.
  fileprivate func uses(_ names: Set<String>) -> Bool {
    if names.contains(destination) { return true }
    guard case .link(let links, _, _, _, _) = storage else { return false }
    return names.contains(links)
  }
}

extension EntityDescription {
  /// Adds an attribute, with the next id.
  mutating func add(_ attribute: AttributeDescription) {
    var attribute = attribute
    attribute.id = nextAttributeID
    nextAttributeID += 1
    attributes.append(attribute)
  }

  /// Returns the advice on the name of a member that is not there; `nil` if the entity has none of
  /// its kind. Hidden members are left out.
  func advice(on name: String, among members: [String]) -> String? {
    let names = members.filter { !$0.hasPrefix("_") }
    if names.isEmpty { return nil }
    return NearestName.advice(
      on: name, among: names, otherwise: "it has " + names.joined(separator: ", "))
  }

  /// Appends the layout of the current attributes.
  mutating func addLayout() { layouts.append(RecordShape(of: attributes)) }
}

extension RecordShape {
  init(of attributes: [AttributeDescription]) {
    self.init(slots: attributes.map { .init(attributeID: $0.id, kind: $0.type.kind) })
  }
}

extension StoreError {
  func naming(_ migration: Migration) -> StoreError {
    StoreError(
      code, summary, [("migration", "\(migration.line) \(migration.name)")] + context,
      advice: advice, object: object, property: property)
  }
}
