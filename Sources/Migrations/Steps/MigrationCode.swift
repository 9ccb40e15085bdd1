public import EntityModel
import EntityStore

/// A code step of a migration: Swift that a program registers, by name and revision.
///
/// It is called once for each record, in chunks, and again for records that others change meanwhile
/// and after a kill. So it must depend on nothing but the record. It sees values by name and never
/// a type of the program, which goes on changing while the migration must not.
public struct MigrationCode: Sendable {
  public let name: String
  /// Grows when the code does something else.
  public let revision: Int
  let body: @Sendable (inout MigratedRecord) throws -> Void

  /// - Parameter body: Gives values to attributes that the step names under `changes`. What it
  ///   throws ends the migration with the record's name; nothing of the step is seen then.
  public init(
    _ name: String, revision: Int, body: @escaping @Sendable (inout MigratedRecord) throws -> Void
  ) {
    self.name = name
    self.revision = revision
    self.body = body
  }
}

/// A record as a code step sees it: its values as they were before the step, and new ones for the
/// attributes that the step changes.
public struct MigratedRecord: Sendable {
  public let id: ObjectID
  let positions: [String: Int]
  let values: [Value]
  /// By name; those that the step changes.
  var changes: [String: Value]

  /// The value of an attribute before the step.
  ///
  /// - Throws: `unknownAttribute`.
  public subscript(_ attribute: String) -> Value {
    get throws {
      guard let position = positions[attribute] else { throw unknown(attribute) }
      return values[position]
    }
  }

  /// Gives an attribute its value after the step.
  ///
  /// - Throws: `unknownAttribute` for one that the step does not name under `changes`.
  public mutating func set(_ attribute: String, to value: Value) throws {
    guard changes[attribute] != nil else { throw unknown(attribute) }
    changes[attribute] = value
  }

  private func unknown(_ attribute: String) -> StoreError {
    StoreError(
      .unknownAttribute, "a code step uses an attribute that it may not",
      [("record", id.description), ("attribute", attribute)],
      advice: "it reads what the entity had before, and sets what the step names under `changes`")
  }
}
