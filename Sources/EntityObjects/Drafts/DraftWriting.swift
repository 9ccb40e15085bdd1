import EntityModel
import EntityStore

/// Writes rows, changes links, then deletes records. A step that is refused because of a record
/// that is still to be changed is tried again after other steps.
struct DraftWriting {
  let transaction: WriteTransaction
  let identities: DraftIdentities

  /// Writes all changes.
  ///
  /// - Throws: All refusals, as one error.
  func run(_ changes: DraftChanges) throws {
    try requireRules(of: changes.rows)
    var (rows, links, deletions) = (changes.rows, changes.links, changes.deletions)
    while true {
      let (waiting, deleting) = (rows.count + links.count, deletions.count)
      var refused = try attempt(&rows, write) + attemptInOrder(&links, change)
      // Delete rules apply to the links that remain.
      if rows.isEmpty, links.isEmpty {
        let going = Set(deletions)
        refused = try attempt(&deletions) { try delete($0, among: going) }
        if deletions.isEmpty { return }
      } else if rows.count + links.count == waiting {
        try deleteHolders(of: rows, &deletions)
      }
      let isStuck = rows.count + links.count == waiting && deletions.count == deleting
      if isStuck, let error = StoreError.all(refused) { throw error }
    }
  }

  /// Deletes the records that hold unique values for which rows wait; if none of those can be
  /// deleted, all that can.
  private func deleteHolders(
    of rows: [DraftChanges.Row], _ deletions: inout [ObjectID]
  ) throws {
    var holders: Set<ObjectID> = []
    for row in rows {
      guard let values = try values(of: row) else { continue }
      for found in try self.holders(of: values, row) { holders.insert(found.holder) }
    }
    let others = deletions.filter { !holders.contains($0) }
    var wanted = deletions.filter(holders.contains)
    _ = try attempt(&wanted) { try delete($0, among: []) }
    let isFruitless = wanted.count + others.count == deletions.count
    deletions = others + wanted
    if isFruitless { _ = try attempt(&deletions) { try delete($0, among: []) } }
  }

  // MARK: Rules

  /// Finds all values that break a rule. The other rows are tried even if there are some, so that
  /// the error names everything that has to be corrected.
  private func requireRules(of rows: [DraftChanges.Row]) throws {
    var refused: [StoreError] = []
    var sound: [DraftChanges.Row] = []
    for row in rows {
      let broken = try brokenRules(of: row)
      if broken.isEmpty { sound.append(row) }
      refused += broken
    }
    if refused.isEmpty { return }
    refused += try attempt(&sound, write)
    if let error = StoreError.all(refused) { throw error }
  }

  private func brokenRules(of row: DraftChanges.Row) throws -> [StoreError] {
    let id = identities.temporary(row.id)
    let validator = try transaction.changes(of: row.entity).rules.validator
    return row.values.compactMap { position, value in
      validator[position].failure(of: value).map {
        .validation(
          $0, entity: id.entity, attribute: row.entity.description.attributes[position].name,
          id: id.number)
      }
    }
  }

  // MARK: Attempts

  /// Runs the steps that succeed and leaves the others. The direction alternates between passes, so
  /// that a chain of records that pass on a unique value is written in two passes.
  ///
  /// - Returns: The errors of the steps that are left.
  private func attempt<Step>(
    _ steps: inout [Step], _ body: (Step) throws -> Void
  ) throws -> [StoreError] {
    var isReversed = false
    while true {
      var refused: [(step: Step, error: StoreError)] = []
      for step in steps {
        do {
          try body(step)
        } catch let error as StoreError where error.isRefusal {
          refused.append((step, error))
        }
      }
      let isStuck = refused.count == steps.count
      if isStuck, isReversed { refused.reverse() }
      steps = refused.map(\.step)
      if isStuck { return refused.map(\.error) }
      steps.reverse()
      isReversed.toggle()
    }
  }

  /// Runs the steps in order, up to the first that is refused.
  private func attemptInOrder<Step>(
    _ steps: inout [Step], _ body: (Step) throws -> Void
  ) throws -> [StoreError] {
    for (done, step) in steps.enumerated() {
      do {
        try body(step)
      } catch let error as StoreError where error.isRefusal {
        steps.removeFirst(done)
        return [error]
      }
    }
    steps = []
    return []
  }

  // MARK: Steps

  private func write(_ row: DraftChanges.Row) throws {
    try naming(row.id) {
      guard let values = try values(of: row) else { throw StoreError.missing(row.id) }
      do {
        switch row.content {
        case .new: try transaction.insert(values, as: row.number, into: row.entity)
        case .changed: try transaction.update(values, id: row.number, in: row.entity)
        }
      } catch let error as StoreError where error.code == .uniqueViolation {
        // The write reports the first violated unique index only.
        throw try StoreError.all(uniqueViolations(of: values, row)) ?? error
      }
    }
  }

  /// Returns the new values of the record; `nil` if there is no record to change.
  private func values(of row: DraftChanges.Row) throws -> [Value]? {
    switch row.content {
    case .new(let values): return values
    case .changed(let changes):
      guard var values = try transaction.row(row.number, of: row.entity)?.values() else {
        return nil
      }
      for (position, value) in changes { values[position] = value }
      return values
    }
  }

  private func change(_ link: PendingLink) throws {
    try naming(link.owner, link.relationship) {
      switch link.change {
      case .add(let index):
        try transaction.addRelated(link.others, to: link.owner, link.relationship, at: index)
      case .remove:
        try transaction.removeRelated(link.others, from: link.owner, link.relationship)
      case .set: try transaction.setRelated(link.owner, link.relationship, to: link.others)
      case .setOne:
        try transaction.setRelated(link.owner, link.relationship, to: link.others.first)
      }
    }
  }

  /// Deletes a record.
  ///
  /// - Parameter going: All records to be deleted: two records may each deny the deletion of the
  ///   other.
  private func delete(_ id: ObjectID, among going: Set<ObjectID>) throws {
    try naming(id) {
      let entity = try transaction.catalog.entity(id.entity)
      guard let old = try transaction.view(of: id.number, in: entity) else { return }
      let terms = Deletion.Terms { going.contains(ObjectID(entity: $0.entity, number: $0.id)) }
      try Deletion.run(of: id.number, old, in: entity, on: terms, transaction)
    }
  }

  /// Runs one step. Its errors name the record by the identity that the draft knows.
  private func naming(
    _ id: ObjectID, _ property: String? = nil, _ body: () throws -> Void
  ) throws {
    do {
      try body()
    } catch var error as StoreError where error.isRefusal {
      error.object = identities.temporary(id)
      error.property = error.property ?? property ?? error.attribute
      throw error
    }
  }

  private func uniqueViolations(
    of values: [Value], _ row: DraftChanges.Row
  ) throws -> [StoreError] {
    try holders(of: values, row).map { index, holder in
      .uniqueViolation(
        of: index, in: row.entity, id: identities.temporary(row.id).number,
        holder: identities.temporary(holder).number)
    }
  }

  /// Returns the other records that have the row's values in unique indexes. Indexes on lists are
  /// left out.
  private func holders(
    of values: [Value], _ row: DraftChanges.Row
  ) throws -> [(index: IndexLayout, holder: ObjectID)] {
    try row.entity.indexes.compactMap { index in
      guard index.isUnique, index.listPart == nil,
        let number = try transaction.identifier(
          in: row.entity, index: index, by: { values[$0] }),
        number != row.number
      else { return nil }
      return (index, ObjectID(entity: row.entity.name, number: number))
    }
  }
}

extension DraftChanges.Row {
  /// The values with their attribute positions, in ascending order.
  fileprivate var values: [(Int, Value)] {
    switch content {
    case .new(let values): values.enumerated().map { ($0.offset, $0.element) }
    case .changed(let changes): changes.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
  }
}

extension StoreError {
  /// Returns the first error with the others in it; `nil` for an empty list.
  static func all(_ errors: [StoreError]) -> StoreError? {
    var all = errors.flatMap { [$0] + $0.others }
    for index in all.indices { all[index].others = [] }
    guard var first = all.first else { return nil }
    first.others = Array(all.dropFirst())
    return first
  }

  /// True if the error is about the changes to be written, and not about the store.
  fileprivate var isRefusal: Bool {
    switch code {
    case .validation, .uniqueViolation, .deletionDenied, .missingRecord, .invalidRequest,
      .unknownRelationship:
      true
    default: false
    }
  }

  fileprivate var attribute: String? { context.first { $0.0 == "attribute" }?.1 }
}
