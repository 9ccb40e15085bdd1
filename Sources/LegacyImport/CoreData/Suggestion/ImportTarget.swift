import EntityModel

/// How entities of a Core Data store that inherit from others are imported.
public enum ImportInheritance: String, Hashable, Sendable, CaseIterable {
  /// Each entity that is not abstract becomes one entity.
  case separate
  /// Each hierarchy becomes one entity, with an attribute that says which of its entities a record
  /// was.
  case merged
}

/// A proposed entity of the store, and the entities of the file whose objects become its records.
struct ImportTarget: Sendable {
  struct Member: Sendable {
    let entity: ManagedObjectModel.Entity
    let number: Int64
    let table: String
    var attributes: [AttributeMapping] = []
    var relationships: [RelationshipMapping] = []
  }

  let name: String
  /// One entity, or all of a hierarchy that are not abstract, in order of their numbers.
  var members: [Member]
  var names = UniqueNames()
  var attributes: [AttributeDescription] = []
  /// The name of an attribute in the store, by the entity that declares it and its name there.
  var attributeNames: [StoreLayout.Property: String] = [:]

  var isMerged: Bool { members.count > 1 }
}

/// The proposed entities of the store.
///
/// A relationship leads to one entity. Therefore a hierarchy is merged if a relationship leads to
/// several of its entities, even if separate entities were requested: several relationships in its
/// place would change its meaning for every program.
struct ImportTargets: Sendable {
  var all: [ImportTarget] = []
  private(set) var warnings: [String] = []
  /// The places of the targets for the objects of an entity and of its subentities.
  private var placesByEntity: [String: Set<Int>] = [:]

  init(_ model: ManagedObjectModel, _ layout: StoreLayout, _ plan: ImportInheritance) {
    let members = Self.members(model, layout)
    let causes = Self.causesToMerge(members, model)
    var names = UniqueNames()
    for root in model.entities where root.superentity == nil {
      guard let members = members[root.name] else { continue }
      let isMerged = members.count > 1 && (plan == .merged || causes[root.name] != nil)
      if isMerged, let cause = causes[root.name] {
        let entities = members.map(\.entity.name).joined(separator: ", ")
        warnings.append("\(entities) become one entity, because \(cause)")
      }
      for group in isMerged ? [members] : members.map({ [$0] }) {
        let name = isMerged ? root.name : group[0].entity.name
        for entity in group.flatMap({ model.lineage(of: $0.entity.name) }) {
          placesByEntity[entity.name, default: []].insert(all.count)
        }
        all.append(ImportTarget(name: names.claim(name, otherwise: "Entity"), members: group))
      }
    }
  }

  /// Returns the entities of each hierarchy that may have rows, by the name of its root.
  private static func members(
    _ model: ManagedObjectModel, _ layout: StoreLayout
  ) -> [String: [ImportTarget.Member]] {
    var members: [String: [ImportTarget.Member]] = [:]
    for entity in model.entities where !entity.isAbstract {
      guard let number = layout.numbers[entity.name], let table = layout.tables[entity.name],
        let root = model.root(of: entity.name)
      else { continue }
      members[root.name, default: []].append(.init(entity: entity, number: number, table: table))
    }
    return members.mapValues { $0.sorted { $0.number < $1.number } }
  }

  /// Returns the relationship for which a hierarchy must be merged, by the name of its root: it
  /// leads to several entities of it, or without an inverse from several.
  private static func causesToMerge(
    _ members: [String: [ImportTarget.Member]], _ model: ManagedObjectModel
  ) -> [String: String] {
    var membersBelow: [String: Int] = [:]
    for member in members.values.joined() {
      for entity in model.lineage(of: member.entity.name) {
        membersBelow[entity.name, default: 0] += 1
      }
    }
    var causes: [String: String] = [:]
    func require(_ end: String, _ cause: String) {
      guard membersBelow[end, default: 0] > 1, let root = model.root(of: end),
        causes[root.name] == nil
      else { return }
      causes[root.name] = cause
    }
    for entity in model.entities {
      for relationship in entity.relationships where !relationship.isTransient {
        let name = "\(entity.name).\(relationship.name)"
        require(relationship.destination, "\(name) leads to several of them")
        if relationship.isToMany, relationship.inverse == nil {
          require(entity.name, "\(name) leads from several of them")
        }
      }
    }
    return causes
  }

  func places(of entity: String) -> [Int] { placesByEntity[entity, default: []].sorted() }
}
