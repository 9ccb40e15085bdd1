package import EntityModel

/// The comparison of the entities of two schemas, with their attributes, indexes and relationships.
///
/// The steps come in phases, so that each step finds what it needs. Dependent parts are dropped
/// first and created last: a relationship by key depends on indexes, and an index on attributes,
/// some of which hold the links of another relationship.
struct EntityComparison {
  let old: Schema
  let new: Schema
  let oldPairs: [RelationshipPair]
  let newPairs: [RelationshipPair]
  var differences: [String] = []
  var phases = [[MigrationStep]](repeating: [], count: Phase.allCases.count)
  /// The relationship pairs that stay, identified by `RelationshipDefinition.text`.
  var keptPairs: Set<String> = []

  enum Phase: Int, CaseIterable {
    case dropKeys, dropLinkIndexes, dropRelationships, dropIndexes, dropAttributes, dropEntities
    case createEntities, addAttributes, changeAttributes, createIndexes
    case createRelationships, createLinkIndexes, createKeys
    case changeRelationships, require, setHistory
  }

  init(from old: Schema, to new: Schema) {
    self.old = old.withoutSystem
    self.new = new.withoutSystem
    oldPairs = RelationshipPair.all(in: self.old)
    newPairs = RelationshipPair.all(in: self.new)
  }

  var steps: [MigrationStep] { phases.flatMap { $0 } }

  mutating func add(_ step: MigrationStep, _ phase: Phase) { phases[phase.rawValue].append(step) }

  mutating func run() {
    compareRelationships()
    for entity in old.entities where new.entity(named: entity.name) == nil { drop(entity) }
    for entity in new.entities {
      if let before = old.entity(named: entity.name) {
        compareAttributes(before, entity)
        compareIndexes(before, entity)
        compareHistory(before, entity)
      } else {
        create(entity)
      }
    }
  }

  // MARK: Entities

  private mutating func drop(_ entity: EntityDescription) {
    var text = "entity \(entity.name) is dropped, with all its records"
    let names = Set(entity.plainAttributes.map(\.name))
    let like = new.entities.first {
      old.entity(named: $0.name) == nil && Set($0.plainAttributes.map(\.name)) == names
    }
    if let like, !names.isEmpty {
      text +=
        "; \(like.name) has the same attributes: if it is a rename, write renameEntity instead"
    }
    differences.append(text)
    for index in entity.indexes where !index.isHidden {
      if entity.hasLink(in: index) {
        add(.dropIndex(entity: entity.name, name: index.name), .dropLinkIndexes)
      }
    }
    add(.dropEntity(name: entity.name), .dropEntities)
  }

  private mutating func create(_ entity: EntityDescription) {
    let attributes = entity.plainAttributes
    differences.append(
      "entity \(entity.name) is added, with \(attributes.count) attributes and "
        + "\(entity.indexes.count { !$0.isHidden }) indexes")
    add(
      .createEntity(
        name: entity.name, attributes: attributes.map(\.withoutID),
        keepsHistory: entity.keepsHistory), .createEntities)
    for index in entity.indexes where !index.isHidden {
      let phase: Phase = entity.hasLink(in: index) ? .createLinkIndexes : .createIndexes
      add(.createIndex(entity: entity.name, entity.definition(of: index)), phase)
    }
    let references = entity.attributes.filter { $0.holdsLinks && $0.keepsHistory }
    if !references.isEmpty { setHistoryValues(of: entity) }
  }

  // MARK: History

  private mutating func compareHistory(_ before: EntityDescription, _ entity: EntityDescription) {
    if before.keepsHistory != entity.keepsHistory {
      differences.append(
        "\(entity.name): its history is \(entity.keepsHistory ? "kept" : "not kept")")
      add(
        .setHistory(
          HistorySetting(entity: entity.name, isKept: entity.keepsHistory, values: nil)),
        .setHistory)
    }
    let kept = entity.attributes.filter { attribute in
      guard let old = before.attribute(named: attribute.name),
        old.holdsLinks == attribute.holdsLinks
      else { return attribute.holdsLinks ? false : attribute.keepsHistory }
      let isKept = !attribute.holdsLinks || isKept(attribute, of: entity)
      return isKept && old.keepsHistory
    }
    guard Set(kept.map(\.name)) != Set(entity.historyValues) else { return }
    differences.append(
      "\(entity.name): the history keeps the replaced values of "
        + (entity.historyValues.isEmpty ? "none" : entity.historyValues.joined(separator: ", ")))
    setHistoryValues(of: entity)
  }

  private mutating func setHistoryValues(of entity: EntityDescription) {
    add(
      .setHistory(
        HistorySetting(entity: entity.name, isKept: nil, values: entity.historyValues)),
      .setHistory)
  }
}

extension Schema {
  /// The schema without the hidden entities that hold links: they come with their relationships.
  fileprivate var withoutSystem: Schema {
    var schema = self
    schema.entities.removeAll(where: \.isSystem)
    return schema
  }
}

extension EntityDescription {
  /// The attributes that are not part of a relationship.
  var plainAttributes: [AttributeDescription] {
    attributes.filter { !$0.isHidden && !$0.holdsLinks }
  }

  /// The steps that create the entity with its indexes.
  var creation: [MigrationStep] {
    let entity = MigrationStep.createEntity(
      name: name, attributes: plainAttributes.map(\.withoutID),
      keepsHistory: keepsHistory || isSystem)
    return [entity]
      + indexes.filter { !$0.isHidden }.map {
        .createIndex(entity: name, definition(of: $0))
      }
  }

  /// The step that keeps the history of attributes that relationships have created, if one is kept.
  var historyOfLinks: MigrationStep? {
    guard attributes.contains(where: { ($0.holdsLinks || $0.isHidden) && $0.keepsHistory }) else {
      return nil
    }
    return .setHistory(HistorySetting(entity: name, isKept: nil, values: historyValues))
  }

  fileprivate var historyValues: [String] {
    attributes.filter { $0.keepsHistory && !$0.isHidden }.map(\.name)
  }

  /// Returns true if an index contains an attribute that holds links.
  func hasLink(in index: IndexDescription) -> Bool {
    index.keys.contains { key in
      attributes.contains { $0.id == key.attributeID && ($0.holdsLinks || $0.isHidden) }
    }
  }

  package func definition(of index: IndexDescription) -> IndexDefinition {
    IndexDefinition(
      name: index.name,
      keys: index.keys.map {
        .init(
          attribute: name(of: $0.attributeID) ?? "#\($0.attributeID)",
          isDescending: $0.isDescending, collation: $0.collation)
      }, isUnique: index.isUnique, isSparse: index.isSparse)
  }
}

extension IndexDescription {
  /// True for an index that was created for a relationship.
  var isHidden: Bool { name.hasPrefix("_") }
}

extension AttributeDescription {
  /// True for an attribute that holds the links of a relationship.
  var holdsLinks: Bool {
    if case .reference = type { true } else { false }
  }

  /// The attribute as a migration names it, without its id.
  var withoutID: AttributeDescription {
    var attribute = self
    attribute.id = 0
    return attribute
  }
}
