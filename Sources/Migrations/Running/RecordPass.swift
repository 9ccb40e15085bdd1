import EntityModel
import EntityObjects
import EntityStore
import Foundation

/// Scans the records of an entity for a migration step, in order of their ids.
struct RecordPass {
  private enum Action {
    case fill(RecordFilling)
    case backfill(RecordUpdate, position: Int)
    case verify(AttributeValidator, position: Int)
    case update(RecordUpdate, PredicateProgram?)
    case delete(PredicateProgram?)
  }

  private let entity: EntityLayout
  private let transaction: WriteTransaction
  private var action: Action
  /// The number of records that matched.
  private(set) var matches = 0

  /// Prepares the scan of the step's records.
  ///
  /// - Parameter startedAt: The time that the word `now` stands for, also after an interruption.
  init(
    _ records: StepWork.Records, _ work: StepWork, codes: [MigrationCode], startedAt: Date,
    in transaction: WriteTransaction
  ) throws {
    self.transaction = transaction
    let entity = try transaction.catalog.entity(work.entityName)
    self.entity = entity
    let binder = Binder(.entity(entity), in: transaction)
    func filter(_ predicate: FetchPredicate?) throws -> PredicateProgram? {
      try predicate.map { try binder.bind($0) }
    }
    func update(_ set: [String: AttributeAssignment]) throws -> RecordUpdate {
      try RecordUpdate(set, of: entity, startedAt: startedAt, in: transaction)
    }
    func position(_ id: Int) throws -> Int {
      guard let position = entity.description.attributes.firstIndex(where: { $0.id == id }) else {
        throw StoreError.damaged("a step names an unknown attribute", entity: entity.name)
      }
      return position
    }
    switch records {
    case .fill(let fillings):
      transaction.isBuilding = true
      action = .fill(try RecordFilling(fillings, of: entity, codes: codes, in: transaction))
    case .backfill(let id, let assignment):
      let position = try position(id)
      let name = entity.description.attributes[position].name
      action = .backfill(try update([name: assignment]), position: position)
    case .verify(let id):
      let after = work.after.entities.first { $0.id == work.entityID }
      guard let attribute = after?.attributes.first(where: { $0.id == id }) else {
        throw StoreError.damaged("a step names an unknown attribute", entity: entity.name)
      }
      action = .verify(try AttributeValidator(attribute), position: try position(id))
    case .update(let rows): action = .update(try update(rows.set), try filter(rows.predicate))
    case .delete(let predicate): action = .delete(try filter(predicate))
    }
  }

  /// Continues after a record for as long as there is room.
  ///
  /// - Returns: True if there are more records.
  mutating func advance(
    after last: inout Int64, rows: inout Int64, while hasRoom: () -> Bool
  ) throws -> Bool {
    try transaction.scanRecords(of: entity, after: last) { id, view in
      try visit(view, id: id, isFirst: true)
      last = id
      rows += 1
      return hasRoom()
    }
  }

  /// Processes again the records that others have changed since, for as long as there is room.
  ///
  /// - Returns: True if there are more records.
  mutating func catchUp(
    _ sideLog: RecordSideLog, rows: inout Int64, while hasRoom: () -> Bool
  ) throws -> Bool {
    try sideLog.catchUp(rows: &rows, while: hasRoom) { id, view in
      try visit(view, id: id, isFirst: false)
    }
  }

  private mutating func visit(_ view: RecordView, id: Int64, isFirst: Bool) throws {
    let row = FetchRow(id: id, view: view)
    switch action {
    case .fill(let filling):
      if isFirst { try filling.fill(view, id: id) } else { try filling.refill(view, id: id) }
    case .backfill(let update, let position):
      guard view.field(position).isNull else { return }
      try update.apply(to: row)
      if let now = try transaction.view(of: id, in: entity), now.field(position).isNull {
        throw refusal(id, "it has no value, and `backfill` gives it none", position)
      }
    case .verify(let validator, let position):
      let value = try entity.reading(id) { try view.value(position) }
      guard let failure = validator.failure(of: value) else { return }
      throw refusal(id, "\(failure)", position)
    case .update(let update, let filter):
      guard try matches(row, filter) else { return }
      try update.apply(to: row)
    case .delete(let filter):
      guard try matches(row, filter) else { return }
      try transaction.delete(ObjectID(entity: entity.name, number: id))
    }
    matches += 1
  }

  private func matches(_ row: FetchRow, _ filter: PredicateProgram?) throws -> Bool {
    try entity.reading(row.id) { try filter?.matches(row, in: transaction) ?? true }
  }

  private func refusal(_ id: Int64, _ reason: String, _ position: Int) -> StoreError {
    let record = ObjectID(entity: entity.name, number: id)
    let attribute = entity.description.attributes[position].name
    return StoreError(
      .validation, "a record breaks the rules that its attribute gets",
      [("record", record.description), ("attribute", attribute), ("reason", reason)],
      advice: "correct the record or the step, then run `mooring migrate up` again",
      object: record, property: attribute)
  }
}

/// Records that a migration may not leave in their entity and must not lose. They are moved to the
/// entity `_Quarantine`.
enum Quarantine {
  /// Stores a copy of a record, which the caller then deletes.
  static func keep(_ id: ObjectID, reason: String, _ transaction: WriteTransaction) throws {
    guard let record = try transaction.get(id) else { return }
    let values = Dictionary(uniqueKeysWithValues: record.fields.map { ($0.name, $0.value) })
    try transaction.insert(
      "_Quarantine",
      [
        "migration": .string(transaction.author ?? ""), "entity": .string(id.entity),
        "number": .int64(id.number), "reason": .string(reason),
        "record": .data(Data(try CatalogTree.encode(values))), "movedAt": .date(transaction.now),
      ])
  }
}
