import EntityModel
import EntityStore

/// The changes of a draft that are not saved yet: values only, independent of any transaction.
package struct PendingChanges: Sendable {
  /// The changed records by entity name.
  private(set) var entities: [String: PendingEntity] = [:]
  /// The changed links in the order in which they were changed.
  private(set) var links: [PendingLink] = []

  var isEmpty: Bool { entities.isEmpty && links.isEmpty }

  func object(_ number: Int64, of entity: String) -> PendingObject? {
    entities[entity]?.objects[number]
  }

  func object(_ id: ObjectID) -> PendingObject? { object(id.number, of: id.entity) }

  /// Returns the identities of the records in one state, by entity name and number.
  func identities(_ state: PendingObject.State) -> [ObjectID] {
    entities.values.sorted { $0.layout.name < $1.layout.name }.flatMap { entity in
      entity.objects.filter { $0.value.state == state }.keys.sorted()
        .map { ObjectID(entity: entity.layout.name, number: $0) }
    }
  }

  /// Adds a new record.
  ///
  /// - Throws: `schemaMismatch`; `invalidRequest` if there are too many changes.
  mutating func insert(_ number: Int64, _ values: [Value], into entity: EntityLayout) throws {
    try put(PendingObject(base: nil, values: values), number, of: entity)
  }

  /// Changes the values of a record; its stored values make it unchanged again.
  ///
  /// - Parameter stored: The stored values, for a record that was unchanged so far.
  mutating func update(
    _ number: Int64, to values: [Value], from stored: [Value], of entity: EntityLayout
  ) throws {
    let known = object(number, of: entity.name)
    let base = known == nil ? stored : known?.base
    if values == base { return forget(number, of: entity.name) }
    try put(PendingObject(base: base, values: values), number, of: entity)
  }

  /// Deletes a record. A new record is removed altogether; its delete rules are applied at once to
  /// the draft's other records, because no later step would do it.
  ///
  /// - Parameter stored: The stored values, for a record that was unchanged so far.
  mutating func delete(
    _ number: Int64, from stored: [Value], of entity: EntityLayout
  ) throws {
    let known = object(number, of: entity.name)
    if known?.state == .inserted {
      let id = ObjectID(entity: entity.name, number: number)
      rollback(id)
      try endReferences(to: id)
    } else {
      try put(PendingObject(base: known?.base ?? stored, values: nil), number, of: entity)
    }
  }

  /// Ends the references to a removed record. Those that a rule denies stay, for the save to
  /// refuse.
  private mutating func endReferences(to gone: ObjectID) throws {
    for entity in entities.values {
      for relationship in entity.layout.relationships {
        guard case .attribute(let position, _) = relationship.access,
          relationship.description.destination == gone.entity
        else { continue }
        for number in entity.objects.keys {
          // Reads the current state: the record may have been removed by an earlier step.
          guard let values = object(number, of: entity.layout.name)?.values,
            values[position] == .int64(gone.number)
          else { continue }
          switch relationship.inverse.deleteRule {
          case .cascade: try delete(number, from: values, of: entity.layout)
          case .nullify:
            var cut = values
            cut[position] = .null
            try update(number, to: cut, from: values, of: entity.layout)
          case .deny, .noAction: break
          }
        }
      }
    }
  }

  /// Discards the changes of one record.
  mutating func rollback(_ id: ObjectID) {
    let wasInserted = object(id)?.state == .inserted
    forget(id.number, of: id.entity)
    links.removeAll { $0.owner == id }
    guard wasInserted else { return }
    for index in links.indices { links[index].others.removeAll { $0 == id } }
    links.removeAll(where: \.isVoid)
  }

  /// Records a change of a relationship.
  ///
  /// - Throws: `invalidRequest` if there are too many changes.
  mutating func add(_ link: PendingLink) throws {
    try requireRoom()
    links.append(link)
  }

  private mutating func put(
    _ object: PendingObject, _ number: Int64, of entity: EntityLayout
  ) throws {
    try entities[entity.name]?.require(entity)
    if self.object(number, of: entity.name) == nil { try requireRoom() }
    entities[entity.name, default: PendingEntity(layout: entity)].objects[number] = object
  }

  private func requireRoom() throws(StoreError) {
    let count = entities.values.reduce(links.count) { $0 + $1.objects.count }
    if count < StoreLimits.pendingChangesMax { return }
    throw StoreError(
      .invalidRequest, "a draft holds too many changes",
      [("at most", String(StoreLimits.pendingChangesMax))], advice: "save it, or write in chunks")
  }

  private mutating func forget(_ number: Int64, of entity: String) {
    entities[entity]?.objects[number] = nil
    if entities[entity]?.objects.isEmpty == true { entities[entity] = nil }
  }
}

/// The changed records of one entity.
struct PendingEntity: Sendable {
  /// The layout of the entity when the draft first changed one of its records.
  let layout: EntityLayout
  /// The changed records by number.
  var objects: [Int64: PendingObject] = [:]

  /// Requires that the entity is unchanged.
  ///
  /// - Throws: `schemaMismatch` if the entity has other attributes now.
  func require(_ current: EntityLayout) throws(StoreError) {
    if current === layout || current.description.attributes == layout.description.attributes {
      return
    }
    throw StoreError(
      .schemaMismatch, "an entity has changed since a draft changed records of it",
      [("entity", layout.name)],
      advice: "get from the draft what you need, roll it back, and make the changes again")
  }
}

/// One changed record, by attribute position.
struct PendingObject: Sendable {
  /// The stored values when the draft first changed the record; `nil` for a new one.
  let base: [Value]?
  /// The draft's values; `nil` for a deleted record.
  let values: [Value]?

  enum State { case inserted, updated, deleted }

  var state: State {
    if values == nil { return .deleted }
    return base == nil ? .inserted : .updated
  }
}

/// A change of a relationship that the save applies.
struct PendingLink: Sendable {
  enum Change: Sendable {
    /// Adds links.
    ///
    /// - Parameter index: The position of the first; see `WriteTransaction.addRelated`.
    case add(index: Int?)
    case remove
    /// Links the record with exactly the others.
    case set
    /// Links the record with the other, or with none, by a to-one relationship.
    case setOne
  }

  var owner: ObjectID
  let relationship: String
  let change: Change
  var others: [ObjectID]

  /// True if it changes nothing.
  var isVoid: Bool {
    switch change {
    case .add, .remove: others.isEmpty
    case .set, .setOne: false
    }
  }
}

extension PendingChanges: RecordOverlay {
  func pendingRecord(_ id: Int64, of entity: String) -> PendingRecord? {
    object(id, of: entity).map { $0.values.map { .values($0) } ?? .deleted }
  }

  func check(against catalog: Catalog) throws {
    for entity in entities.values { try entity.require(catalog.entity(entity.layout.name)) }
  }
}

/// A snapshot of the store with a draft's changes over it.
typealias DraftTransaction = OverlayTransaction<PendingChanges>
