import EntityModel
import EntityStore

/// The record that states that a seed has been applied.
struct SeedRecord: Sendable {
  private static let entity = "_Seed"
  private static let nameLengthMax = 200

  let name: String

  /// Checks the name.
  ///
  /// - Throws: `invalidRequest` for a name that is empty or too long.
  init(name: String) throws(StoreError) {
    guard !name.isEmpty, name.count <= Self.nameLengthMax else {
      throw StoreError(
        .invalidRequest, "a seed has no name, or too long a name",
        [("characters", String(name.count))],
        advice: "give it a name of 1 to \(Self.nameLengthMax) characters")
    }
    self.name = name
  }

  /// Reads the record.
  ///
  /// - Returns: `nil` if the seed has not been applied.
  func outcome(in transaction: ReadTransaction) throws -> SeedOutcome? {
    // The entity is missing in a store with outstanding migrations; the write then reports that.
    guard transaction.schema.entity(named: Self.entity) != nil,
      let record = try transaction.get(Self.entity, by: ["name": .string(name)])
    else { return nil }
    guard case .date(let appliedAt) = try record["appliedAt"],
      case .int64(let objects) = try record["objects"]
    else {
      throw StoreError.damaged(
        "the record of a seed is unreadable", entity: Self.entity, id: record.id.number)
    }
    return .appliedBefore(at: appliedAt, objects: Int(objects))
  }

  func write(objects: Int, in transaction: WriteTransaction) throws {
    try transaction.insert(
      Self.entity,
      [
        "name": .string(name), "objects": .int64(Int64(objects)),
        "appliedAt": .date(transaction.now),
      ])
  }
}
