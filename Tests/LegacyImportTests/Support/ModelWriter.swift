import EntityModel
import EntityStore
import Foundation
import LegacyImport

@testable import EntityObjects

/// Writes a model as Core Data puts it into `Z_MODELCACHE`.
struct ModelWriter {
  private var archive = ArchiveWriter()
  private let model: ManagedObjectModel
  private var entities: [String: PropertyListValue] = [:]

  /// - Returns: Compressed.
  static func bytes(of model: ManagedObjectModel) -> [UInt8] {
    StoredDeflate.bytes(of: archive(of: model))
  }

  static func archive(of model: ManagedObjectModel) -> [UInt8] {
    var writer = ModelWriter(model)
    return writer.write()
  }

  private init(_ model: ManagedObjectModel) { self.model = model }

  private mutating func write() -> [UInt8] {
    for entity in model.entities { entities[entity.name] = archive.reserve() }
    for entity in model.entities { add(entity) }
    let keys = archive.array(model.entities.map { archive.add(.string($0.name)) })
    let mapping = archive.add(
      "NSKnownKeysMappingStrategy1",
      ["keys": keys, "length": .int64(Int64(model.entities.count)), "version": .int64(1)])
    let values = archive.array(model.entities.map { entities[$0.name] ?? ArchiveWriter.null })
    let list = archive.add(
      "NSKnownKeysDictionary1",
      [
        "searchMapping": mapping, "values": values, "version": .int64(1),
        "emptyToken": archive.add(.string("__empty_slot_token__")),
      ])
    let versions = archive.array([archive.add(.string("7"))], of: "NSSet")
    let root = archive.add(
      "NSManagedObjectModel",
      [
        "NSEntities": list, "NSFetchRequestTemplates": ArchiveWriter.null,
        "NSVersionIdentifiers": versions,
      ])
    return archive.bytes(root: root)
  }

  private mutating func add(_ entity: ManagedObjectModel.Entity) {
    var properties: [(String, PropertyListValue)] = []
    // Inherited properties stand in each entity again: as such, or as what stands for one.
    for (distance, above) in model.lineage(of: entity.name).enumerated() {
      for attribute in above.attributes {
        properties.append((attribute.name, inherited(self.attribute(attribute), distance)))
      }
      for relationship in above.relationships {
        properties.append((relationship.name, inherited(self.relationship(relationship), distance)))
      }
    }
    let tuples = entity.uniqueConstraints.map { names in
      archive.array(names.map { archive.add(.string($0)) }, of: "NSMutableArray")
    }
    var fields: [String: PropertyListValue] = [
      "NSEntityName": archive.add("NSMutableString", ["NS.string": .string(entity.name)]),
      "NSSuperentity": entity.superentity.flatMap { entities[$0] } ?? ArchiveWriter.null,
      "NSRenamingIdentifier": entity.renamingIdentifier.map { archive.add(.string($0)) }
        ?? ArchiveWriter.null,
      "NSProperties": archive.dictionary(properties, of: "NSMutableDictionary"),
      "NSUniqueTuples": archive.array(tuples, of: "NSMutableArray"),
    ]
    if entity.isAbstract { fields["NSIsAbstract"] = .bool(true) }
    if let place = entities[entity.name] { archive.fill(place, "NSEntityDescription", fields) }
  }

  private mutating func inherited(
    _ property: PropertyListValue, _ distance: Int
  ) -> PropertyListValue {
    distance % 2 == 1
      ? archive.add("_NSPropertyDescriptionProxy", ["NSUnderlyingProperty": property]) : property
  }

  private mutating func attribute(
    _ attribute: ManagedObjectModel.Attribute
  ) -> PropertyListValue {
    var fields: [String: PropertyListValue] = [
      "NSPropertyName": archive.add(.string(attribute.name)),
      "NSAttributeType": .int64(attribute.type.rawValue),
      "NSFlagsKey": .int64(attribute.isExternal ? 4 : 0),
    ]
    if attribute.isOptional { fields["NSIsOptional"] = .bool(true) }
    if attribute.isTransient { fields["NSIsTransient"] = .bool(true) }
    if let name = attribute.transformer {
      fields["NSValueTransformerName"] = archive.add(.string(name))
    }
    switch attribute.defaultValue {
    case .int64(let number): fields["NSDefaultValue"] = archive.add(.int64(number))
    case .bool(let flag): fields["NSDefaultValue"] = archive.add(.bool(flag))
    case .double(let number): fields["NSDefaultValue"] = archive.add(.double(number))
    case .string(let text): fields["NSDefaultValue"] = archive.add(.string(text))
    case .date(let date):
      fields["NSDefaultValue"] = archive.add(
        "NSDate", ["NS.time": .double(date.timeIntervalSinceReferenceDate)])
    default: fields["NSDefaultValue"] = ArchiveWriter.null
    }
    return archive.add(
      attribute.isDerived ? "NSDerivedAttributeDescription" : "NSAttributeDescription", fields)
  }

  private mutating func relationship(
    _ relationship: ManagedObjectModel.Relationship
  ) -> PropertyListValue {
    let rule: Int64 =
      switch relationship.deleteRule {
      case .noAction: 0
      case .nullify: 1
      case .cascade: 2
      case .deny: 3
      }
    var fields: [String: PropertyListValue] = [
      "NSPropertyName": archive.add(.string(relationship.name)),
      "_NSDestinationEntityName": archive.add(.string(relationship.destination)),
      "_NSInverseRelationshipName": relationship.inverse.map { archive.add(.string($0)) }
        ?? ArchiveWriter.null,
      "NSMaxCount": .int64(relationship.isToMany ? 0 : 1), "NSDeleteRule": .int64(rule),
      // In circles, as Core Data does.
      "NSDestinationEntity": entities[relationship.destination] ?? ArchiveWriter.null,
    ]
    if relationship.isOptional { fields["NSIsOptional"] = .bool(true) }
    if relationship.isOrdered { fields["NSIsOrdered"] = .bool(true) }
    if relationship.isTransient { fields["NSIsTransient"] = .bool(true) }
    return archive.add("NSRelationshipDescription", fields)
  }
}
