public import EntityModel
import EntityStore

/// A code step of a migration: Swift code that a program registers, by name and revision.
///
/// It is called once for each record, in chunks, and again for records that others change
/// concurrently and after a kill. So its result must depend on nothing but the record. It gets
/// values by name, and never a type of the program, because those types change later while the
/// migration must not.
public struct MigrationCode: Sendable {
  public let name: String
  /// The revision, which increases when the behavior of the code changes.
  public let revision: Int
  let body: @Sendable (inout MigratedRecord) throws -> Void

  /// Creates a code step.
  ///
  /// - Parameter body: Gives values to attributes that the step names under `changes`. An error
  ///   that it throws ends the migration, with the record's name in the message. No change of the
  ///   step is visible then.
  public init(
    _ name: String, revision: Int, body: @escaping @Sendable (inout MigratedRecord) throws -> Void
  ) {
    self.name = name
    self.revision = revision
    self.body = body
  }
}

/// A record as a code step sees it: its values before the step, and new ones for the attributes
/// that the step changes.
public struct MigratedRecord: Sendable {
  public let id: ObjectID
  let positions: [String: Int]
  let values: [Value]
  /// The values of the attributes that the step changes, by name.
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

  /// Sets the value of an attribute after the step.
  ///
  /// - Throws: `unknownAttribute` for one that the step does not name under `changes`.
  public mutating func set(_ attribute: String, to value: Value) throws {
    guard changes[attribute] != nil else { throw unknown(attribute) }
    changes[attribute] = value
  }

  private func unknown(_ attribute: String) -> StoreError {
    StoreError(
      .unknownAttribute, "a code step uses an attribute that it cannot use",
      [("record", id.description), ("attribute", attribute)],
      advice: "it reads what the entity had before, and sets what the step names under `changes`")
  }
}
