import EntityModel
import EntityStore
import Migrations

/// Proposes the relationships of the store, each pair of inverses once, and their columns.
///
/// Records are written before their links, so that no relationship is required. A pair is mapped
/// from the side that holds a link to one record, or from the side that is ordered.
struct RelationshipSuggestion {
  typealias Relationship = ManagedObjectModel.Relationship
  typealias Property = StoreLayout.Property

  let source: CoreDataSource
  private(set) var targets: ImportTargets
  private(set) var steps: [MigrationStep] = []
  private(set) var warnings: [String] = []

  private var model: ManagedObjectModel { source.model }
  private var layout: StoreLayout { source.layout }

  /// A relationship with the entity that declares it.
  private struct End {
    let entity: String
    let relationship: Relationship

    var property: Property { Property(entity, relationship.name) }
    var text: String { "\(entity).\(relationship.name)" }
  }

  mutating func run() {
    var done: Set<Property> = []
    for entity in model.entities {
      for relationship in entity.relationships where !relationship.isTransient {
        let end = End(entity: entity.name, relationship: relationship)
        guard done.insert(end.property).inserted else { continue }
        let back = inverse(of: end)
        if let back { done.insert(back.property) }
        switch (relationship.isToMany, back?.relationship.isToMany) {
        case (false, nil), (false, true): addReference(from: end, back: back)
        case (true, false):
          if let back { addReference(from: back, back: end) }
        case (false, false): addOneToOne(end, back)
        case (true, true):
          if let back { addLinks(end, back) }
        case (true, nil): addOneSided(end)
        }
      }
    }
  }

  /// Returns the inverse, if each of the two names the other.
  private func inverse(of end: End) -> End? {
    guard let (entity, relationship) = model.inverse(of: end.relationship),
      relationship.inverse == end.relationship.name,
      model.lineage(of: relationship.destination).contains(where: { $0.name == end.entity })
    else { return nil }
    return End(entity: entity.name, relationship: relationship)
  }

  // MARK: To one

  private mutating func addReference(from end: End, back: End?) {
    guard let reference = layout.references[end.property],
      let table = layout.tables[end.relationship.destination],
      let other = onlyPlace(of: end.relationship.destination, for: end)
    else { return }
    for place in targets.places(of: end.entity) {
      let names = define(end, at: place, back: back, at: other)
      if let back, back.relationship.isOrdered, let order = reference.orderColumn,
        let inverse = names.back
      {
        add(
          RelationshipMapping(
            relationship: inverse,
            source: .join(
              table: reference.table, owner: [reference.column],
              target: [StoreLayout.keyColumn], order: order),
            table: reference.table), of: back, to: other)
      } else {
        add(
          RelationshipMapping(
            relationship: names.own, source: .columns([reference.column]), table: table),
          toAllWith: end, at: place)
      }
    }
  }

  /// Adds a one-to-one relationship. Both sides have a column; the one with more links is read.
  private mutating func addOneToOne(_ end: End, _ back: End?) {
    guard let back, back.property != end.property else {
      return addReference(from: end, back: back)
    }
    let isFuller = links(back) > links(end)
    addReference(from: isFuller ? back : end, back: isFuller ? end : back)
    let left = isFuller ? end : back
    if links(left) > 0 {
      warnings.append("\(left.text) is taken from its inverse, and its own column is skipped")
    }
  }

  private func links(_ end: End) -> Int {
    guard let reference = layout.references[end.property] else { return -1 }
    return source.facts[reference.table]?.facts(of: reference.column).values ?? 0
  }

  // MARK: To many

  private mutating func addLinks(_ end: End, _ back: End) {
    guard let join = layout.joins[end.property],
      let place = onlyPlace(of: end.entity, for: end),
      let other = onlyPlace(of: end.relationship.destination, for: end)
    else { return }
    let names = define(end, at: place, back: back, at: other)
    let backJoin = layout.joins[back.property]
    let backOrder = back.relationship.isOrdered ? backJoin?.order : nil
    let order = end.relationship.isOrdered ? join.order : nil
    let isItsOwnInverse = back.property == end.property
    if order != nil || backOrder == nil || isItsOwnInverse {
      addJoin(join, order, named: names.own, end, at: place)
    }
    // An order of either side can only be read from that side.
    if let backOrder, let backJoin, let name = names.back, !isItsOwnInverse {
      addJoin(backJoin, backOrder, named: name, back, at: other)
    }
  }

  private mutating func addJoin(
    _ join: StoreLayout.Join, _ order: String?, named name: String, _ end: End, at place: Int
  ) {
    guard let table = layout.tables[end.relationship.destination] else { return }
    add(
      RelationshipMapping(
        relationship: name,
        source: .join(table: join.table, owner: [join.owner], target: [join.target], order: order),
        table: table), of: end, to: place)
  }

  /// Adds a to-many relationship without an inverse: the rows of the destination have the key of
  /// the owner.
  private mutating func addOneSided(_ end: End) {
    guard let reference = layout.references[end.property],
      let place = onlyPlace(of: end.entity, for: end),
      let other = onlyPlace(of: end.relationship.destination, for: end)
    else { return }
    let names = define(end, at: place, back: nil, at: other)
    add(
      RelationshipMapping(
        relationship: names.own,
        source: .join(
          table: reference.table, owner: [reference.column], target: [StoreLayout.keyColumn],
          order: end.relationship.isOrdered ? reference.orderColumn : nil),
        table: reference.table), of: end, to: place)
  }

  // MARK: Parts

  private mutating func onlyPlace(of entity: String, for end: End) -> Int? {
    let places = targets.places(of: entity)
    if places.isEmpty {
      warnings.append("\(end.text) is left out: the file has no rows for \(entity)")
    }
    return places.first
  }

  private mutating func define(
    _ end: End, at place: Int, back: End?, at other: Int
  ) -> (own: String, back: String?) {
    let isItsOwnInverse = back?.property == end.property
    let own = claim(end, at: place)
    let inverse = isItsOwnInverse ? own : back.map { claim($0, at: other) }
    steps.append(
      .createRelationship(
        RelationshipDefinition(
          entity: targets.all[place].name, destination: targets.all[other].name,
          side: side(end.relationship, named: own),
          inverse: back.flatMap { back in inverse.map { side(back.relationship, named: $0) } })))
    return (own, inverse)
  }

  private mutating func claim(_ end: End, at place: Int) -> String {
    let name = end.relationship.name
    return targets.all[place].names.claim(
      name, fallback: "\(name)Of\(end.entity)", otherwise: "relationship")
  }

  private func side(
    _ relationship: Relationship, named name: String
  ) -> RelationshipDefinition.Side {
    .init(
      name: name, isToMany: relationship.isToMany,
      isOrdered: relationship.isToMany && relationship.isOrdered,
      deleteRule: relationship.deleteRule)
  }

  /// Adds the mapping to the first member: a table of links has those of all members.
  private mutating func add(_ mapping: RelationshipMapping, of end: End, to place: Int) {
    targets.all[place].members[0].relationships.append(described(mapping, end))
  }

  private mutating func add(_ mapping: RelationshipMapping, toAllWith end: End, at place: Int) {
    for member in targets.all[place].members.indices {
      let entity = targets.all[place].members[member].entity
      guard model.lineage(of: entity.name).contains(where: { $0.name == end.entity }) else {
        continue
      }
      targets.all[place].members[member].relationships.append(described(mapping, end))
    }
  }

  private func described(_ mapping: RelationshipMapping, _ end: End) -> RelationshipMapping {
    var mapping = mapping
    let relationship = end.relationship
    var text =
      "\(source.origin): \(relationship.name): to \(relationship.isToMany ? "many" : "one") "
    text += relationship.destination
    if relationship.isOrdered { text += ", ordered" }
    if let inverse = relationship.inverse { text += ", inverse \(inverse)" }
    if !relationship.isOptional { text += "; required there, and optional here" }
    mapping.evidence = [text]
    mapping.unconfirmed = source.doubts[end.property]
    return mapping
  }
}
