import EntityModel
import EntityStore

/// Writes a draft's changes in one write transaction. An error undoes all of them.
struct DraftSave: Sendable {
  let pending: PendingChanges
  let policy: MergePolicy

  /// Writes the changes.
  ///
  /// - Returns: The final identities of the inserted records, by their temporary ones.
  func run(in transaction: WriteTransaction) throws -> [ObjectID: ObjectID] {
    let identities = try DraftIdentities(pending, in: transaction)
    let changes = try merged(identities, in: transaction)
    try DraftWriting(transaction: transaction, identities: identities).run(changes)
    return identities.assigned
  }

  /// Returns the changes to be written, with final identities.
  ///
  /// - Throws: `conflict`, with all conflicts.
  private func merged(
    _ identities: DraftIdentities, in transaction: WriteTransaction
  ) throws -> DraftChanges {
    var changes = DraftChanges()
    var conflicts: [StoreError] = []
    for pending in pending.entities.values.sorted(by: { $0.layout.name < $1.layout.name }) {
      let entity = try transaction.catalog.entity(pending.layout.name)
      try pending.require(entity)
      let merge = DraftMerge(policy, entity)
      for (number, object) in pending.objects.sorted(by: { $0.key < $1.key }) {
        guard let base = object.base else {
          if let values = object.values { changes.insert(number, values, entity, identities) }
          continue
        }
        let stored = try transaction.row(number, of: entity)?.values()
        switch merge.merge(number, base: base, draft: object.values, stored: stored) {
        case .success(let outcome): changes.add(outcome, number, entity, identities)
        case .failure(let found): conflicts += found.errors
        }
      }
    }
    for link in pending.links {
      do {
        if let link = try kept(link, changes, identities, in: transaction) {
          changes.links.append(link)
        }
      } catch let error as StoreError where error.code == .conflict {
        conflicts.append(error)
      }
    }
    if let error = StoreError.all(conflicts) { throw error }
    try dropReferencesToGone(of: &changes, in: transaction)
    return changes
  }

  /// Removes references to records that another writer has deleted, where the store wins. Links are
  /// treated alike. With the other policies the write refuses such a reference.
  private func dropReferencesToGone(
    of changes: inout DraftChanges, in transaction: WriteTransaction
  ) throws {
    guard policy == .storeWins || policy == .rollback else { return }
    for index in changes.rows.indices {
      let row = changes.rows[index]
      for reference in row.entity.references {
        guard case .int64(let number) = row.value(reference.position) else { continue }
        let other = ObjectID(entity: reference.destination, number: number)
        let destination = try transaction.catalog.entity(other.entity)
        if try !changes.inserts(other) && !transaction.exists(number, in: destination),
          !other.isTemporary
        {
          changes.rows[index].leaveOut(reference.position)
        }
      }
    }
  }

  /// Returns the part of the link whose records exist. The merge policy decides if the rest may be
  /// left out.
  ///
  /// - Returns: `nil` if nothing is left of the link.
  private func kept(
    _ link: PendingLink, _ changes: DraftChanges, _ identities: DraftIdentities,
    in transaction: WriteTransaction
  ) throws -> PendingLink? {
    func isThere(_ id: ObjectID) throws -> Bool {
      if changes.inserts(id) { return true }
      return try transaction.exists(id.number, in: try transaction.catalog.entity(id.entity))
    }
    func isDeletedTwice(_ id: ObjectID) throws -> Bool {
      try pending.object(id)?.state == .deleted && !isThere(id)
    }
    var link = identities.real(link)
    if try isDeletedTwice(link.owner) { return nil }
    link.others = try link.others.filter { try !isDeletedTwice($0) }
    let others = try link.others.filter(isThere)
    let isWhole = try isThere(link.owner) && others.count == link.others.count
    if isWhole { return link }
    if case .remove = link.change, try isThere(link.owner) { return link }
    switch policy {
    case .error, .draftWins, .overwrite:
      let gone = try ([link.owner] + link.others).first { try !isThere($0) } ?? link.owner
      throw StoreError(
        .conflict, "a record whose links the draft has changed was deleted by another writer",
        [("record", gone.description), ("relationship", link.relationship)],
        advice: StoreError.conflictAdvice, object: identities.temporary(link.owner),
        property: link.relationship)
    case .storeWins, .rollback:
      guard try isThere(link.owner) else { return nil }
      let wasGiven = !link.others.isEmpty
      link.others = others
      if case .setOne = link.change, wasGiven, others.isEmpty { return nil }
      return link
    }
  }
}

/// The final identities of the records that a draft has inserted.
struct DraftIdentities {
  /// The final identities by temporary identity.
  private(set) var assigned: [ObjectID: ObjectID] = [:]
  private var temporary: [ObjectID: ObjectID] = [:]

  /// Reserves numbers in the order of creation.
  init(_ pending: PendingChanges, in transaction: WriteTransaction) throws {
    for (name, inserted) in Dictionary(grouping: pending.identities(.inserted), by: \.entity) {
      let entity = try transaction.catalog.entity(name)
      let numbers = try transaction.reserve(inserted.count, of: entity)
      for (id, number) in zip(inserted, numbers) {
        assigned[id] = ObjectID(entity: name, number: number)
        temporary[ObjectID(entity: name, number: number)] = id
      }
    }
  }

  func real(_ id: ObjectID) -> ObjectID { assigned[id] ?? id }

  /// Returns the identity by which the draft knows a record.
  func temporary(_ id: ObjectID) -> ObjectID { temporary[id] ?? id }

  /// Returns the value of a reference with the final number.
  func real(_ value: Value, _ reference: HeldReference) -> Value {
    guard case .int64(let number) = value, ObjectID.isTemporary(number) else { return value }
    return .int64(real(ObjectID(entity: reference.destination, number: number)).number)
  }

  func real(_ link: PendingLink) -> PendingLink {
    var link = link
    link.owner = real(link.owner)
    link.others = link.others.map(real)
    return link
  }
}

/// The changes that a save writes, merged and with final identities.
struct DraftChanges {
  struct Row {
    /// The values that the save changes. Other steps of the same save may change the record, too.
    enum Content {
      case new([Value])
      /// The changed values by attribute position.
      case changed([Int: Value])
    }

    let entity: EntityLayout
    let number: Int64
    private(set) var content: Content

    var id: ObjectID { ObjectID(entity: entity.name, number: number) }

    /// Returns the new value of the attribute; `nil` if it stays unchanged.
    func value(_ position: Int) -> Value? {
      switch content {
      case .new(let values): values[position]
      case .changed(let changes): changes[position]
      }
    }

    /// Leaves the attribute null in a new record and unchanged in an existing one.
    mutating func leaveOut(_ position: Int) {
      switch content {
      case .new(var values):
        values[position] = .null
        content = .new(values)
      case .changed(var changes):
        changes[position] = nil
        content = .changed(changes)
      }
    }
  }

  var rows: [Row] = []
  var links: [PendingLink] = []
  var deletions: [ObjectID] = []
  private var inserted: Set<ObjectID> = []

  func inserts(_ id: ObjectID) -> Bool { inserted.contains(id) }

  mutating func insert(
    _ temporary: Int64, _ values: [Value], _ entity: EntityLayout, _ identities: DraftIdentities
  ) {
    let id = identities.real(ObjectID(entity: entity.name, number: temporary))
    add(.insert(values), id.number, entity, identities)
  }

  mutating func add(
    _ outcome: DraftMerge.Outcome, _ number: Int64, _ entity: EntityLayout,
    _ identities: DraftIdentities
  ) {
    switch outcome {
    case .nothing: return
    case .delete: deletions.append(ObjectID(entity: entity.name, number: number))
    case .update(var values):
      for reference in entity.references {
        if let value = values[reference.position] {
          values[reference.position] = identities.real(value, reference)
        }
      }
      rows.append(Row(entity: entity, number: number, content: .changed(values)))
    case .insert(var values):
      for reference in entity.references {
        values[reference.position] = identities.real(values[reference.position], reference)
      }
      rows.append(Row(entity: entity, number: number, content: .new(values)))
      inserted.insert(ObjectID(entity: entity.name, number: number))
    }
  }
}
