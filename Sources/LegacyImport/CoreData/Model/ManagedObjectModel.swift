package import EntityModel

/// The model of a Core Data store, without what neither its file nor an import depends on.
package struct ManagedObjectModel: Hashable, Sendable {
  package struct Entity: Hashable, Sendable {
    package var name: String
    package var superentity: String?
    package var isAbstract = false
    /// The name in an older version of the model, or the same name; `nil` if none is recorded.
    package var renamingIdentifier: String?
    /// The attributes of the entity without inherited ones, in order of name, as the relationships.
    package var attributes: [Attribute] = []
    package var relationships: [Relationship] = []
    /// Sets of properties whose values no two objects share.
    package var uniqueConstraints: [[String]] = []
  }

  package struct Attribute: Hashable, Sendable {
    package var name: String
    package var type: AttributeKind
    package var isOptional = true
    package var defaultValue = Value.null
    /// True for an attribute without a column.
    package var isTransient = false
    /// True if Core Data computes the value from other attributes.
    package var isDerived = false
    /// True if long values are in files beside the store.
    package var isExternal = false
    package var transformer: String?
    /// The name in an older version of the model, or the same name; `nil` if none is recorded. Also
    /// of relationships.
    package var renamingIdentifier: String?
  }

  package struct Relationship: Hashable, Sendable {
    package var name: String
    package var destination: String
    /// The relationship of the destination that leads back.
    package var inverse: String?
    package var isToMany = false
    package var isOrdered = false
    package var isOptional = true
    package var isTransient = false
    package var deleteRule = DeleteRule.nullify
    package var renamingIdentifier: String?
  }

  /// Core Data's attribute types, with their numbers.
  package enum AttributeKind: Int64, Hashable, Sendable {
    case undefined = 0
    case int16 = 100
    case int32 = 200
    case int64 = 300
    case decimal = 400
    case double = 500
    case float = 600
    case string = 700
    case bool = 800
    case date = 900
    case binary = 1000
    case uuid = 1100
    case uri = 1200
    case transformable = 1800
    case objectID = 2000
    case composite = 2100
  }

  /// The entities in order of name.
  package let entities: [Entity]
  private let placeByName: [String: Int]
  /// The places of each entity and its superentities, the root last.
  private let lineages: [[Int]]
  /// The places of each entity and all its subentities.
  private let subtrees: [[Int]]

  /// - Throws: What makes it no model: a name that stands twice, a superentity that is not there,
  ///   an entity that is its own ancestor.
  package init(entities: [Entity]) throws(ArchiveDamage) {
    let sorted = entities.sorted { $0.name < $1.name }
    var places: [String: Int] = [:]
    for (place, entity) in sorted.enumerated()
    where places.updateValue(place, forKey: entity.name) != nil {
      throw ArchiveDamage("the model has the entity \(entity.name) twice")
    }
    var lineages: [[Int]] = []
    var subtrees = [[Int]](repeating: [], count: sorted.count)
    for place in sorted.indices {
      let lineage = try Self.lineage(of: place, sorted, places)
      for above in lineage { subtrees[above].append(place) }
      lineages.append(lineage)
    }
    var properties = 0
    for above in lineages.joined() {
      properties += sorted[above].attributes.count + sorted[above].relationships.count
    }
    guard properties <= ModelLimits.inheritedPropertiesMax else {
      throw ArchiveDamage("the model has too many properties")
    }
    self.entities = sorted
    self.lineages = lineages
    self.subtrees = subtrees
    placeByName = places
  }

  private static func lineage(
    of place: Int, _ entities: [Entity], _ places: [String: Int]
  ) throws(ArchiveDamage) -> [Int] {
    var lineage = [place]
    var next = entities[place].superentity
    while let name = next {
      guard let above = places[name] else {
        throw ArchiveDamage("the entity above \(entities[place].name) is not in the model")
      }
      guard lineage.count <= ModelLimits.ancestorsMax else {
        throw ArchiveDamage("the entity \(entities[place].name) has too many above it")
      }
      lineage.append(above)
      next = entities[above].superentity
    }
    return lineage
  }
}

extension ManagedObjectModel {
  /// Returns the entity and its superentities, the root last; nothing for an unknown name.
  package func lineage(of name: String) -> [Entity] {
    placeByName[name].map { lineages[$0].map { entities[$0] } } ?? []
  }

  /// Returns the root of the entity's hierarchy, which may be the entity itself.
  package func root(of name: String) -> Entity? {
    placeByName[name].flatMap { lineages[$0].last }.map { entities[$0] }
  }

  /// Returns the entity and all its subentities, in order of name.
  package func subtree(of name: String) -> [Entity] {
    placeByName[name].map { subtrees[$0].map { entities[$0] } } ?? []
  }

  /// Returns the inverse relationship and the entity that declares it.
  package func inverse(
    of relationship: Relationship
  ) -> (entity: Entity, relationship: Relationship)? {
    guard let name = relationship.inverse else { return nil }
    for entity in lineage(of: relationship.destination) {
      if let found = entity.relationships.first(where: { $0.name == name }) {
        return (entity, found)
      }
    }
    return nil
  }
}

/// Dates as Core Data stores them.
enum CoreDataDate {
  /// Returns a number of seconds since 2001 as a date; `nil` beyond the years 1 to 9999.
  static func value(_ seconds: Double) -> Value? {
    try? Conversion(date: .coreDataSeconds).value(from: .double(seconds), to: .date)
  }
}

/// The bounds of a model; real ones stay far below.
enum ModelLimits {
  static let ancestorsMax = 64
  static let entitiesMax = 5_000
  static let propertiesMax = 100_000
  /// The number of properties of all entities, inherited ones counted for each.
  static let inheritedPropertiesMax = 500_000
  static let nameBytesMax = 1_000
}
