public import EntityModel
public import EntityStore
import Foundation

extension SchemaComparison {
  /// Lists what Swift types need and a schema lacks: the differences that `Store.require` would
  /// list, and the steps that close them.
  ///
  /// A missing attribute that the type requires gets a default where its kind has a natural one: 0,
  /// false, or an empty text, list or data. An attribute without a natural default (`date`, `uuid`,
  /// `url`) is created as optional and then made required. Where there are records, the second step
  /// is refused until a backfill is added. A relationship gets no inverse. A relationship that is
  /// required in the type and optional in the schema has no step: either its links would be lost,
  /// or the type must make it optional.
  ///
  /// Parts of the schema that the types do not use are no difference.
  public init(_ schema: Schema, requiring types: [any Entity.Type]) {
    self.init()
    var needs = TypeNeeds(schema: schema)
    for type in types { needs.add(type) }
    differences = needs.differences
    steps = needs.steps
  }
}

/// Compares one type after another with a schema.
private struct TypeNeeds {
  let schema: Schema
  private(set) var differences: [String] = []
  private var entities: [MigrationStep] = []
  private var attributes: [MigrationStep] = []
  private var relationships: [MigrationStep] = []
  /// The parts that are created so far. Several types may describe the same entity.
  private var made: Set<SchemaName> = []

  init(schema: Schema) { self.schema = schema }

  var steps: [MigrationStep] { entities + attributes + relationships }

  mutating func add<T: Entity>(_ type: T.Type) {
    if let entity = schema.entity(named: type.entityName) {
      for needed in type.attributes { add(needed, entity) }
    } else if made.insert(.entity(type.entityName)).inserted {
      differences.append("entity \(type.entityName) is missing")
      entities.append(
        .createEntity(
          name: type.entityName,
          attributes: type.attributes.map {
            AttributeDescription(
              name: $0.name, type: AttributeType(of: $0.kind), isOptional: $0.isOptional)
          }, keepsHistory: true))
    }
    for needed in type.relationships { add(needed, of: type.entityName) }
  }

  private mutating func add<T: Entity>(_ needed: EntityAttribute<T>, _ entity: EntityDescription) {
    guard made.insert(.property(entity.name, needed.name)).inserted else { return }
    let name = "\(entity.name).\(needed.name)"
    guard let attribute = entity.attribute(named: needed.name) else {
      addMissing(needed, to: entity.name)
      return
    }
    if attribute.type.kind != needed.kind {
      differences.append(
        "\(name) is \(attribute.type.name), and \(needed.kind.rawValue) in the type")
      attributes.append(
        .retypeAttribute(
          AttributeRetyping(
            entity: entity.name, name: needed.name, type: AttributeType(of: needed.kind),
            isOptional: attribute.isOptional && !needed.isOptional ? false : nil, owner: nil,
            defaultValue: .null, validation: .none, conversion: .none)))
    } else if attribute.isOptional, !needed.isOptional {
      differences.append(
        "\(name) is optional, and required in the type: if there are records without a value, add "
          + "a backfill")
      attributes.append(.requiring(needed.name, of: entity.name))
    }
  }

  private mutating func addMissing<T: Entity>(_ needed: EntityAttribute<T>, to entity: String) {
    var attribute = AttributeDescription(
      name: needed.name, type: AttributeType(of: needed.kind), isOptional: needed.isOptional)
    var text = "\(entity).\(needed.name) (\(needed.kind.rawValue)) is missing"
    var requirement: MigrationStep?
    if !needed.isOptional {
      attribute.defaultValue = needed.kind.naturalDefault
      if attribute.defaultValue.isNull {
        attribute.isOptional = true
        text += ", and required in the type: if there are records, add a backfill"
        requirement = .requiring(needed.name, of: entity)
      } else {
        text += ", and required in the type: records that are there read as its default"
      }
    }
    differences.append(text)
    attributes.append(.addAttribute(entity: entity, attribute))
    if let requirement { attributes.append(requirement) }
  }

  private mutating func add<T: Entity>(_ needed: EntityRelationship<T>, of entity: String) {
    guard made.insert(.property(entity, needed.name)).inserted else { return }
    let name = "\(entity).\(needed.name)"
    let destination = needed.destination.entityName
    let creation = MigrationStep.createRelationship(
      RelationshipDefinition(
        entity: entity, destination: destination,
        side: .init(
          name: needed.name, isToMany: needed.isToMany,
          isOptional: needed.isToMany || needed.isOptional), inverse: nil))
    guard let there = schema.entity(named: entity)?.relationship(named: needed.name) else {
      differences.append("relationship \(name) to \(destination) is missing")
      relationships.append(creation)
      return
    }
    if there.isToMany != needed.isToMany || there.destination != destination {
      let many = there.isToMany ? "many " : ""
      differences.append(
        "relationship \(name) leads to \(many)\(there.destination), and to "
          + "\(needed.isToMany ? "many " : "")\(destination) in the type: its links are lost")
      relationships += [.dropRelationship(entity: entity, name: needed.name), creation]
    } else if !needed.isToMany, !needed.isOptional, there.isOptional {
      differences.append(
        "relationship \(name) is optional, and required in the type: make it optional there")
    }
  }
}

extension MigrationStep {
  fileprivate static func requiring(_ name: String, of entity: String) -> MigrationStep {
    var change = AttributeChange(entity: entity, name: name)
    change.isOptional = false
    return .changeAttribute(change)
  }
}

extension ValueKind {
  /// The default that is neutral for the kind; null if the kind has none.
  fileprivate var naturalDefault: Value {
    switch self {
    case .int64: .int64(0)
    case .double: .double(0)
    case .decimal: .decimal(0)
    case .bool: .bool(false)
    case .string: .string("")
    case .data: .data(Data())
    case .strings: .strings([])
    case .date, .uuid, .url: .null
    }
  }
}
