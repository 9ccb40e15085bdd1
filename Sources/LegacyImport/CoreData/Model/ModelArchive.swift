import EntityModel
import EntityObjects
import EntityStore
import Foundation

/// Reads the model out of the archive that Core Data keeps in `Z_MODELCACHE`.
///
/// The root has `NSEntities`, a dictionary by name. An entity has its properties, inherited ones
/// included, and leads to the one above it. What is absent is false, or null.
struct ModelArchive {
  private let archive: KeyedArchive
  private var propertiesLeft = ModelLimits.propertiesMax

  /// - Parameter bytes: Inflated.
  static func model(in bytes: [UInt8]) throws(ArchiveDamage) -> ManagedObjectModel {
    var reader = ModelArchive(archive: try KeyedArchive(bytes))
    return try reader.model()
  }

  private mutating func model() throws(ArchiveDamage) -> ManagedObjectModel {
    guard case .object(let root) = try archive.root(),
      let list = try archive.object(root.fields["NSEntities"])
    else { throw ArchiveDamage("the archive holds no model") }
    let entries = try archive.entries(of: list)
    guard entries.count <= ModelLimits.entitiesMax else {
      throw ArchiveDamage("the model has more than \(ModelLimits.entitiesMax) entities")
    }
    var entities: [ManagedObjectModel.Entity] = []
    for entry in entries {
      // A slot of the dictionary that nothing stands in holds a text.
      guard let object = try archive.object(entry.value) else { continue }
      entities.append(try entity(object))
    }
    return try ManagedObjectModel(entities: try withoutInherited(entities))
  }

  // MARK: Entities

  private mutating func entity(
    _ object: KeyedArchive.Object
  ) throws(ArchiveDamage) -> ManagedObjectModel.Entity {
    var entity = ManagedObjectModel.Entity(name: try name(object.fields["NSEntityName"]))
    if let above = try archive.object(object.fields["NSSuperentity"]) {
      entity.superentity = try name(above.fields["NSEntityName"])
    }
    entity.isAbstract = flag(object, "NSIsAbstract")
    entity.renamingIdentifier = try archive.string(object.fields["NSRenamingIdentifier"])
    entity.uniqueConstraints = try constraints(object)
    if let properties = try archive.object(object.fields["NSProperties"]) {
      for entry in try archive.entries(of: properties) {
        propertiesLeft -= 1
        guard propertiesLeft >= 0 else { throw ArchiveDamage("the model has too many properties") }
        try add(entry.value, to: &entity)
      }
    }
    entity.attributes.sort { $0.name < $1.name }
    entity.relationships.sort { $0.name < $1.name }
    return entity
  }

  private mutating func constraints(
    _ object: KeyedArchive.Object
  ) throws(ArchiveDamage) -> [[String]] {
    guard let tuples = try archive.object(object.fields["NSUniqueTuples"]) else { return [] }
    var constraints: [[String]] = []
    for tuple in try archive.elements(of: tuples) {
      guard let names = try archive.object(tuple) else { continue }
      var constraint: [String] = []
      for element in try archive.elements(of: names) {
        propertiesLeft -= 1
        guard propertiesLeft >= 0 else { throw ArchiveDamage("the model has too many properties") }
        constraint.append(try name(element))
      }
      constraints.append(constraint)
    }
    return constraints
  }

  // MARK: Properties

  private func add(
    _ field: PropertyListValue, to entity: inout ManagedObjectModel.Entity
  ) throws(ArchiveDamage) {
    guard var object = try archive.object(field) else {
      throw ArchiveDamage("a property of \(entity.name) is no object")
    }
    // It stands for a property of an entity above.
    if object.className == "_NSPropertyDescriptionProxy" {
      guard let property = try archive.object(object.fields["NSUnderlyingProperty"]) else {
        throw ArchiveDamage("a property of \(entity.name) has no definition")
      }
      object = property
    }
    switch object.className {
    case "NSAttributeDescription", "NSDerivedAttributeDescription",
      "NSCompositeAttributeDescription":
      entity.attributes.append(try attribute(object))
    case "NSRelationshipDescription": entity.relationships.append(try relationship(object))
    // One that is fetched has no column.
    default: break
    }
  }

  private func attribute(
    _ object: KeyedArchive.Object
  ) throws(ArchiveDamage) -> ManagedObjectModel.Attribute {
    let kind = try integer(object, "NSAttributeType") ?? 0
    var attribute = ManagedObjectModel.Attribute(
      name: try name(object.fields["NSPropertyName"]),
      type: ManagedObjectModel.AttributeKind(rawValue: kind) ?? .undefined)
    attribute.isOptional = flag(object, "NSIsOptional")
    attribute.isTransient = flag(object, "NSIsTransient")
    attribute.isDerived = object.className == "NSDerivedAttributeDescription"
    attribute.isExternal = (try integer(object, "NSFlagsKey") ?? 0) & 4 != 0
    attribute.transformer = try archive.string(object.fields["NSValueTransformerName"])
    attribute.renamingIdentifier = try archive.string(object.fields["NSRenamingIdentifier"])
    attribute.defaultValue = try defaultValue(object.fields["NSDefaultValue"], of: attribute.type)
    return attribute
  }

  private func relationship(
    _ object: KeyedArchive.Object
  ) throws(ArchiveDamage) -> ManagedObjectModel.Relationship {
    var relationship = ManagedObjectModel.Relationship(
      name: try name(object.fields["NSPropertyName"]),
      destination: try name(object.fields["_NSDestinationEntityName"]))
    if let inverse = try archive.string(object.fields["_NSInverseRelationshipName"]) {
      relationship.inverse = inverse
    }
    relationship.isToMany = try integer(object, "NSMaxCount") != 1
    relationship.isOrdered = flag(object, "NSIsOrdered")
    relationship.isOptional = flag(object, "NSIsOptional")
    relationship.isTransient = flag(object, "NSIsTransient")
    relationship.renamingIdentifier = try archive.string(object.fields["NSRenamingIdentifier"])
    relationship.deleteRule =
      switch try integer(object, "NSDeleteRule") {
      case 0: .noAction
      case 2: .cascade
      case 3: .deny
      default: .nullify
      }
    return relationship
  }

  /// Returns the entities without the properties that they inherit.
  private func withoutInherited(
    _ entities: [ManagedObjectModel.Entity]
  ) throws(ArchiveDamage) -> [ManagedObjectModel.Entity] {
    let complete = try ManagedObjectModel(entities: entities)
    return entities.map { entity in
      var own = entity
      for above in complete.lineage(of: entity.name).dropFirst() {
        let names = Set(above.attributes.map(\.name) + above.relationships.map(\.name))
        own.attributes.removeAll { names.contains($0.name) }
        own.relationships.removeAll { names.contains($0.name) }
        let constraints = Set(above.uniqueConstraints)
        own.uniqueConstraints.removeAll { constraints.contains($0) }
      }
      return own
    }
  }
}

// MARK: Fields

extension ModelArchive {
  private func name(_ field: PropertyListValue?) throws(ArchiveDamage) -> String {
    guard let name = try archive.string(field), !name.isEmpty,
      name.utf8.count <= ModelLimits.nameBytesMax
    else { throw ArchiveDamage("an entity or a property of the model has no usable name") }
    return name
  }

  private func flag(_ object: KeyedArchive.Object, _ key: String) -> Bool {
    object.fields[key] == .bool(true)
  }

  private func integer(
    _ object: KeyedArchive.Object, _ key: String
  ) throws(ArchiveDamage) -> Int64? {
    if case .value(.int64(let number)) = try archive.item(object.fields[key]) {
      number
    } else {
      nil
    }
  }

  /// Returns the default if a migration can express it; null otherwise.
  private func defaultValue(
    _ field: PropertyListValue?, of type: ManagedObjectModel.AttributeKind
  ) throws(ArchiveDamage) -> Value {
    switch (type, try archive.item(field)) {
    case (.int16, .value(.int64(let number))), (.int32, .value(.int64(let number))),
      (.int64, .value(.int64(let number))):
      return .int64(number)
    case (.bool, .value(.bool(let flag))): return .bool(flag)
    case (.bool, .value(.int64(let number))): return .bool(number != 0)
    case (.double, .value(.double(let number))), (.float, .value(.double(let number))):
      return number.isFinite ? .double(number) : .null
    case (.double, .value(.int64(let number))), (.float, .value(.int64(let number))):
      return .double(Double(number))
    case (.string, .value(.string(let text))):
      return text.utf8.count <= ModelLimits.nameBytesMax ? .string(text) : .null
    case (.date, .object(let object)):
      guard case .value(.double(let seconds)) = try archive.item(object.fields["NS.time"]),
        let date = CoreDataDate.value(seconds)
      else { return .null }
      return date
    default: return .null
    }
  }
}
