import EntityModel
import EntityStore

/// Adds a pair of relationships to a schema: chooses where the links are stored, and adds the
/// attributes, the index or the hidden entity that this takes. It has no side effects.
///
/// Generated names begin with an underscore: for `Episode.path` the index `_path` and the order
/// `_path_order`, for `LearningPath.extras` without an inverse the relationship and the attribute
/// `_LearningPath_extras` of its destination, and for `Person.friends` the entity
/// `_Person_friends`.
struct RelationshipCreation {
  private typealias Side = RelationshipDefinition.Side

  private var schema: Schema
  private let definition: RelationshipDefinition

  /// Adds the pair.
  ///
  /// - Throws: `unknownEntity`, `unknownAttribute`, `migration`; the schema is then unchanged.
  static func apply(
    _ definition: RelationshipDefinition, to schema: inout Schema
  ) throws(StoreError) {
    var creation = RelationshipCreation(schema: schema, definition: definition)
    try creation.run()
    schema = creation.schema
  }

  private mutating func run() throws(StoreError) {
    let (side, inverse) = (definition.side, definition.inverse)
    for name in [definition.entity, definition.destination] where schema.entity(named: name) == nil
    {
      throw .unknownEntity(name, in: schema)
    }
    let hidden = "_\(definition.entity)_\(side.name)"
    if definition.isItsOwnInverse || (side.isToMany && inverse?.isToMany == true) {
      try createLinks(named: hidden)
    } else if side.isToMany {
      let holder = inverse ?? Side(name: hidden)
      try createReference(
        held: (definition.entity, side), holder: (definition.destination, holder))
    } else if definition.key.isEmpty {
      let held = inverse ?? Side(name: hidden, isToMany: true)
      try createReference(
        held: (definition.destination, held), holder: (definition.entity, side))
    } else {
      try createKey(
        inverse ?? Side(name: hidden, isToMany: true, deleteRule: .noAction))
    }
  }

  // MARK: References

  /// Adds a pair of relationships whose links are stored in an attribute.
  ///
  /// - Parameter held: The side whose links are stored in the other side's records.
  private mutating func createReference(
    held: (entity: String, side: Side), holder: (entity: String, side: Side)
  ) throws(StoreError) {
    let attribute = try add(
      AttributeDescription(
        name: holder.side.name, type: .reference(held.entity),
        isOptional: holder.side.isOptional, owner: .local), to: holder.entity)
    var order: Int?
    if held.side.isOrdered {
      order = try add(
        AttributeDescription(
          name: hidden(holder.side.name) + "_order", type: .int64, isOptional: true,
          owner: .local), to: holder.entity)
    } else {
      order = try self.order(of: held.side, by: holder.entity)
    }
    let index = try add(
      indexOn: [attribute] + [order].compactMap { $0 }, named: hidden(holder.side.name),
      isUnique: !held.side.isToMany, isSparse: held.side.orderBy == nil, to: holder.entity)
    try schema.entities[schema.number(of: holder.entity)].addLayout()
    try addPair(
      (holder.entity, holder.side, .reference(attribute: attribute, index: index)),
      (held.entity, held.side, .inverse(order: order)))
  }

  // MARK: Keys

  private mutating func createKey(_ held: Side) throws(StoreError) {
    let name = definition.entity
    let unique = try uniqueIndex()
    var pairs: [RelationshipDescription.KeyPair] = []
    for key in unique.keys {
      guard let pair = try keyPair(to: key.attributeID) else { continue }
      pairs.append(pair)
    }
    try checkUnlinking(held, pairs)
    let order = try self.order(of: held, by: name)
    let own = pairs.map(\.own)
    if let order, own.contains(order) {
      throw refusal("an attribute of the key gives the order")
    }
    let index = try add(
      indexOn: own + [order].compactMap { $0 }, named: hidden(definition.side.name),
      isUnique: !held.isToMany, isSparse: held.orderBy == nil, to: name)
    try addPair(
      (name, definition.side, .key(pairs, index: index)),
      (definition.destination, held, .inverse(order: order)))
  }

  /// Returns the destination's unique index on exactly the attributes of the key.
  private func uniqueIndex() throws(StoreError) -> IndexDescription {
    let destination = try entity(definition.destination)
    var wanted: Set<Int> = []
    for pair in definition.key {
      guard let attribute = destination.attribute(named: pair.other) else {
        throw .unknownAttribute(pair.other, in: destination)
      }
      wanted.insert(attribute.id)
    }
    let found = destination.indexes.first { index in
      index.isUnique && index.keys.count == wanted.count
        && Set(index.keys.map(\.attributeID)) == wanted
        && index.keys.allSatisfy { $0.collation == .binary }
    }
    guard let found else {
      throw refusal(
        "the destination has no unique index on exactly the key",
        [("key", definition.key.map(\.other).joined(separator: ", "))],
        advice: "create one first (createIndex, unique: true)")
    }
    return found
  }

  private func keyPair(
    to other: Int
  ) throws(StoreError) -> RelationshipDescription.KeyPair? {
    let (own, destination) = (
      try entity(definition.entity), try entity(definition.destination)
    )
    guard let counterpart = destination.attributes.first(where: { $0.id == other }),
      let pair = definition.key.first(where: { $0.other == counterpart.name })
    else { return nil }
    guard let attribute = own.attribute(named: pair.own) else {
      throw .unknownAttribute(pair.own, in: own)
    }
    guard attribute.type.kind == counterpart.type.kind, attribute.type.kind != .strings else {
      throw refusal(
        "two attributes of a key have different types",
        [("own", attribute.name), ("other", counterpart.name)])
    }
    return .init(own: attribute.id, other: other)
  }

  /// Checks that a link can be set to null where a deletion nullifies it.
  private func checkUnlinking(
    _ held: Side, _ pairs: [RelationshipDescription.KeyPair]
  ) throws(StoreError) {
    guard held.deleteRule == .nullify else { return }
    let entity = try entity(definition.entity)
    guard !entity.clearedToUnlink(pairs).isEmpty else {
      throw refusal(
        "no attribute of the key can be set to null, which the inverse's deleteRule nullify does",
        advice: "choose noAction, cascade or deny")
    }
  }

  // MARK: Links that are records

  private mutating func createLinks(named name: String) throws(StoreError) {
    let side = definition.side
    if schema.entity(named: name) != nil {
      throw refusal("the name of the entity of its links is taken", [("name", name)])
    }
    let back = definition.inverse ?? side
    schema.entities.append(schema.makeEntity(named: name))
    let from = try add(AttributeDescription(end: "from", definition.entity), to: name)
    let to = try add(AttributeDescription(end: "to", definition.destination), to: name)
    let fromOrder =
      side.isOrdered ? try add(AttributeDescription(order: "fromOrder"), to: name) : nil
    let toOrder = back.isOrdered ? try add(AttributeDescription(order: "toOrder"), to: name) : nil
    let byFrom = try add(
      indexOn: [from] + [fromOrder].compactMap { $0 } + [to], named: "byFrom",
      isUnique: fromOrder == nil, isSparse: false, to: name)
    let byTo = try add(
      indexOn: [to] + [toOrder].compactMap { $0 } + [from], named: "byTo",
      isUnique: toOrder == nil, isSparse: false, to: name)
    if fromOrder != nil, toOrder != nil {
      _ = try add(
        indexOn: [from, to], named: "byPair", isUnique: true, isSparse: false, to: name)
    }
    try schema.entities[schema.number(of: name)].addLayout()
    let storage = RelationshipDescription.Storage.link(
      entity: name, own: from, other: to, order: fromOrder, index: byFrom)
    if definition.isItsOwnInverse {
      return try add(side, storage, to: definition.entity, definition.entity, inverse: side.name)
    }
    try addPair(
      (definition.entity, side, storage),
      (
        definition.destination, back,
        .link(entity: name, own: to, other: from, order: toOrder, index: byTo)
      ))
  }

  // MARK: Parts

  private typealias Half = (entity: String, side: Side, storage: RelationshipDescription.Storage)

  /// Adds both sides. The side that the migration names first gets the smaller id.
  private mutating func addPair(_ first: Half, _ second: Half) throws(StoreError) {
    let isSwapped = first.side.name != definition.side.name || first.entity != definition.entity
    for (own, other) in isSwapped
      ? [(second, first), (first, second)] : [(first, second), (second, first)]
    {
      try add(own.side, own.storage, to: own.entity, other.entity, inverse: other.side.name)
    }
  }

  private mutating func add(
    _ side: Side, _ storage: RelationshipDescription.Storage, to name: String,
    _ destination: String, inverse: String
  ) throws(StoreError) {
    let number = try schema.number(of: name)
    if case .reference = storage {
      // The attribute of the relationship exists already and has its name.
    } else {
      try checkFree(side.name, in: name)
    }
    schema.entities[number].relationships.append(
      RelationshipDescription(
        id: schema.nextRelationshipID, name: side.name, destination: destination,
        isToMany: side.isToMany, isOrdered: side.isOrdered, isOptional: side.isOptional,
        deleteRule: side.deleteRule, inverse: inverse, storage: storage))
    schema.nextRelationshipID += 1
  }

  private func checkFree(_ name: String, in entityName: String) throws(StoreError) {
    let entity = try entity(entityName)
    guard entity.attribute(named: name) == nil, entity.relationship(named: name) == nil else {
      throw StoreError(
        .migration, "an attribute or a relationship of this name exists already",
        [("entity", entityName), ("name", name)])
    }
  }

  /// Returns the attribute of the holding entity that a migration names for the order.
  private func order(of held: Side, by holder: String) throws(StoreError) -> Int? {
    guard let name = held.orderBy else { return nil }
    let entity = try entity(holder)
    guard let attribute = entity.attribute(named: name) else {
      throw .unknownAttribute(name, in: entity)
    }
    guard [.int64, .double, .decimal, .date].contains(attribute.type.kind) else {
      throw refusal("orderBy needs a number or a date", [("attribute", name)])
    }
    return attribute.id
  }

  private mutating func add(
    _ attribute: AttributeDescription, to name: String
  ) throws(StoreError) -> Int {
    try checkFree(attribute.name, in: name)
    let number = try schema.number(of: name)
    guard schema.entities[number].attributes.count < StoreLimits.attributesMax else {
      throw StoreError(.migration, "an entity has too many attributes", [("entity", name)])
    }
    let id = schema.entities[number].nextAttributeID
    schema.entities[number].add(attribute)
    return id
  }

  private mutating func add(
    indexOn attributes: [Int], named name: String, isUnique: Bool, isSparse: Bool,
    to entity: String
  ) throws(StoreError) -> Int {
    let id = schema.nextIndexID
    let number = try schema.number(of: entity)
    if schema.entities[number].index(named: name) != nil {
      throw refusal("the name of its index is taken", [("index", name)])
    }
    schema.entities[number].indexes.append(
      IndexDescription(
        id: id, name: name, keys: attributes.map { IndexKey(attributeID: $0) },
        isUnique: isUnique, isSparse: isSparse))
    schema.nextIndexID += 1
    return id
  }

  private func entity(_ name: String) throws(StoreError) -> EntityDescription {
    schema.entities[try schema.number(of: name)]
  }

  private func hidden(_ name: String) -> String { name.hasPrefix("_") ? name : "_" + name }

  private func refusal(
    _ summary: StaticString, _ context: [(String, String)] = [], advice: String? = nil
  ) -> StoreError {
    StoreError(
      .migration, summary,
      [("entity", definition.entity), ("relationship", definition.side.name)] + context,
      advice: advice)
  }
}

extension AttributeDescription {
  fileprivate init(end name: String, _ entity: String) {
    self.init(name: name, type: .reference(entity), owner: .local)
  }

  fileprivate init(order name: String) { self.init(name: name, type: .int64, owner: .local) }
}
