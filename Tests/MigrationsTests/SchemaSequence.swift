import EntityModel
import TestSupport

@testable import EntityStore
@testable import Migrations

/// The invariants of every schema, and of two schemas of which one was migrated to the other.
enum SchemaSequence {
  /// Returns the findings of the catalog check, given the trees that the engine would create.
  static func problems(of schema: Schema) -> [CatalogCheck.Problem] {
    let names =
      schema.entities.map { EntityLayout.treeName(of: $0) }
      + schema.entities.flatMap(\.indexes).map { EntityLayout.treeName(of: $0) }
    return CatalogCheck.problems(of: schema, treeNames: Set(names))
  }

  /// Ids that are used again, and layouts that are not as they were.
  static func violations(from old: Schema, to new: Schema) -> [String] {
    var found: [String] = []
    func require(_ isRight: Bool, _ text: String) { if !isRight { found.append(text) } }
    func isNew(_ id: Int, _ known: [Int], _ next: Int, _ what: String) {
      require(known.contains(id) || id >= next, "\(what) \(id) is used again")
    }
    let indexIDs = old.entities.flatMap(\.indexes).map(\.id)
    let relationshipIDs = old.entities.flatMap(\.relationships).map(\.id)
    for entity in new.entities {
      isNew(entity.id, old.entities.map(\.id), old.nextEntityID, "entity")
      require(entity.id < new.nextEntityID, "entity \(entity.id) is beyond the next")
      for index in entity.indexes {
        isNew(index.id, indexIDs, old.nextIndexID, "index")
        require(index.id < new.nextIndexID, "index \(index.id) is beyond the next")
      }
      for relationship in entity.relationships {
        isNew(relationship.id, relationshipIDs, old.nextRelationshipID, "relationship")
      }
      guard let was = old.entities.first(where: { $0.id == entity.id }) else { continue }
      require(
        entity.layouts.starts(with: was.layouts), "a layout of \(entity.name) has changed")
      require(
        entity.layouts.last == RecordShape(of: entity.attributes), "\(entity.name) is not laid out")
      for attribute in entity.attributes {
        isNew(attribute.id, was.attributes.map(\.id), was.nextAttributeID, "attribute")
        require(attribute.id < entity.nextAttributeID, "\(attribute.name) is beyond the next")
        let known = was.attributes.first { $0.id == attribute.id }
        require(
          known == nil || known?.type.kind == attribute.type.kind,
          "\(attribute.name) has become another kind under its old id")
      }
      for index in entity.indexes {
        guard let before = was.indexes.first(where: { $0.id == index.id }) else { continue }
        let isSame = before.keys == index.keys
        require(isSame || index.generation > before.generation, "\(index.name) is not built anew")
      }
    }
    return found
  }
}

/// Random steps: most fit the schema, some do not.
struct RandomSteps {
  var random: SeededRandom
  private var number = 0

  init(seed: UInt64) { random = SeededRandom(seed: seed) }

  mutating func step(for schema: Schema) -> MigrationStep {
    let entity = anyEntity(schema)
    let attribute = entity.attributes.randomElement(using: &random)?.name ?? "none"
    let relationship = entity.relationships.randomElement(using: &random)?.name ?? "none"
    let index = entity.indexes.randomElement(using: &random)?.name ?? "none"
    switch Int.random(in: 0..<26, using: &random) {
    case 0...1:
      var attributes: [AttributeDescription] = []
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let attribute = newAttribute()
        if !attributes.contains(where: { $0.name == attribute.name }) {
          attributes.append(attribute)
        }
      }
      return .createEntity(name: name("E"), attributes: attributes, keepsHistory: true)
    case 2: return .renameEntity(name: entity.name, newName: name("E"))
    case 3: return .dropEntity(name: entity.name)
    case 4...5: return .addAttribute(entity: entity.name, newAttribute())
    case 6: return .renameAttribute(entity: entity.name, name: attribute, newName: name("a"))
    case 7...8: return .dropAttribute(entity: entity.name, name: attribute)
    case 9...10:
      let other = newAttribute()
      return .retypeAttribute(
        AttributeRetyping(
          entity: entity.name, name: attribute, type: other.type, isOptional: nil, owner: nil,
          defaultValue: .null, validation: .none, conversion: Conversion()))
    case 11:
      return .runCode(
        CodeReference(entity: entity.name, name: "c", revision: 1, changes: [attribute]))
    case 12:
      return .deriveAttribute(
        AttributeDerivation(
          entity: entity.name, attribute: newAttribute(), expression: .path(attribute)))
    case 13:
      var change = AttributeChange(entity: entity.name, name: attribute)
      change.isOptional = Bool.random(using: &random)
      if Bool.random(using: &random) { change.defaultValue = "x" }
      return .changeAttribute(change)
    case 14...16: return .createIndex(entity: entity.name, definition(name("i"), entity))
    case 17: return .changeIndex(entity: entity.name, definition(index, entity))
    case 18: return .dropIndex(entity: entity.name, name: index)
    case 19...21: return newRelationship(entity, anyEntity(schema))
    case 22: return .dropRelationship(entity: entity.name, name: relationship)
    case 23:
      let rule = DeleteRule.allCases.randomElement(using: &random) ?? .nullify
      return .changeRelationship(entity: entity.name, name: relationship, deleteRule: rule)
    case 24:
      let request = FetchRequest(
        entityName: entity.name, predicate: .isNull(attribute), sortBy: [SortKey(attribute)])
      return .createTemplate(RequestTemplate(name: name("t"), request: request))
    default:
      return .dropTemplate(name: schema.templates.randomElement(using: &random)?.name ?? "none")
    }
  }

  /// Names that are seldom reused after a drop, so that all combinations of names and ids occur.
  private mutating func name(_ prefix: String) -> String {
    prefix + String(Int.random(in: 0..<12, using: &random))
  }

  private mutating func anyEntity(_ schema: Schema) -> EntityDescription {
    schema.entities.randomElement(using: &random)
      ?? EntityDescription(id: 0, name: "None", attributes: [])
  }

  private mutating func newAttribute() -> AttributeDescription {
    let types: [AttributeType] = [
      .int64, .double, .string, .string, .date, .strings, .bool,
      .enumeration(Enumeration(cases: [.init(name: "a", rawValue: 1)])),
    ]
    return AttributeDescription(
      name: name("a"), type: types.randomElement(using: &random) ?? .string,
      isOptional: Int.random(in: 0..<4, using: &random) > 0)
  }

  private mutating func definition(_ name: String, _ entity: EntityDescription) -> IndexDefinition {
    let collations: [Collation] = [.binary, .binary, .caseInsensitive, .localizedStandard]
    let attributes = entity.attributes.shuffled(using: &random)
      .prefix(Int.random(in: 1...3, using: &random))
    return IndexDefinition(
      name: name,
      keys: attributes.map {
        .init(
          attribute: $0.name, isDescending: Bool.random(using: &random),
          collation: collations.randomElement(using: &random) ?? .binary)
      }, isUnique: Bool.random(using: &random), isSparse: Bool.random(using: &random))
  }

  private mutating func newRelationship(
    _ entity: EntityDescription, _ destination: EntityDescription
  ) -> MigrationStep {
    func side(_ isToMany: Bool, _ random: inout SeededRandom) -> RelationshipDefinition.Side {
      .init(
        name: "r\(Int.random(in: 0..<9, using: &random))", isToMany: isToMany,
        isOrdered: isToMany && Bool.random(using: &random), orderBy: nil, isOptional: true,
        deleteRule: .nullify)
    }
    let isKey = Int.random(in: 0..<3, using: &random) == 0
    let unique = destination.indexes.first { $0.isUnique && $0.keys.count == 1 }
    let other = destination.attributes.first { $0.id == unique?.keys.first?.attributeID }
    let own = entity.attributes.filter { $0.type.kind == other?.type.kind && $0.isOptional }
    var key: [RelationshipDefinition.KeyPair] = []
    if isKey, let other, let own = own.randomElement(using: &random) {
      key = [.init(own: own.name, other: other.name)]
    }
    let isToMany = key.isEmpty && Bool.random(using: &random)
    let first = side(isToMany, &random)
    var second: RelationshipDefinition.Side?
    if key.isEmpty, Bool.random(using: &random) {
      second = side(Bool.random(using: &random), &random)
    }
    if entity.name == destination.name, second?.name == first.name { second = nil }
    return .createRelationship(
      RelationshipDefinition(
        entity: entity.name, destination: destination.name, side: first, inverse: second, key: key))
  }
}
