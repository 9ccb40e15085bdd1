public import EntityModel
public import SystemSupport
import TextFormats

/// An error of the store.
///
/// Callers branch on `code`; the text is one line for people: what happened, where, what to do.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  public enum Code: Sendable {
    /// The store does not exist.
    case storeMissing
    /// The file is not a store, or not one that this program can read.
    case notAStore, newerFormat
    /// The schema does not match what the program needs, or lacks migrations.
    case schemaMismatch, needsMigration, newerSchema
    /// A migration file or step is wrong, or was changed after it was applied.
    case migration
    /// A seed file is wrong.
    case seed
    /// A name that the schema does not have.
    case unknownEntity, unknownAttribute, unknownRelationship, unknownTemplate
    /// A value breaks a rule of its attribute, or a unique index; or records are not as a migration
    /// requires them.
    case validation, uniqueViolation
    /// A record that was expected does not exist.
    case missingRecord
    /// A delete rule forbids the deletion of a record, or a record that is needed by another one.
    case deletionDenied
    /// A request that is not valid, or that would need a scan where an index is required.
    case invalidRequest, requiresIndex
    /// A read took longer than the limit for its snapshot.
    case snapshotExpired
    /// The records of a draft were changed by another transaction after the draft had read them.
    case conflict
    /// A history token that cannot be read or is of another store; or one whose following changes
    /// have been dropped from the history.
    case invalidToken, expiredToken
    /// The target of a new store is occupied: by another store, or by other files.
    case occupied
    /// The store has been closed.
    case closed
    /// The data file holds bytes that no version of this program wrote.
    case damaged
    /// A failure of the storage layer: see `underlying`.
    case storage
  }

  public let code: Code
  /// The summary without interpolated values, so that failures can be counted by it.
  public let summary: StaticString
  public let context: [(String, String)]
  public let advice: String?
  /// The storage failure that caused `.storage`.
  public let underlying: StorageError?
  /// The record that the error is about, if the caller should know which of many.
  public package(set) var object: ObjectID?
  /// The attribute or the relationship that the error is about.
  public package(set) var property: String?
  /// The other errors for which the same call was refused, in the order in which they were found.
  public package(set) var others: [StoreError] = []

  package init(
    _ code: Code, _ summary: StaticString, _ context: [(String, String)] = [],
    advice: String? = nil, underlying: StorageError? = nil, object: ObjectID? = nil,
    property: String? = nil
  ) {
    self.code = code
    self.summary = summary
    self.context = context
    self.advice = advice
    self.underlying = underlying
    self.object = object
    self.property = property
  }

  /// Creates the error for a failure of the storage layer.
  package init(_ failure: StorageError) {
    self.init(.storage, failure.summary, underlying: failure)
  }

  public var description: String {
    if let underlying { return underlying.description }
    var text = "\(summary)"
    if !context.isEmpty {
      text += " (" + context.map { "\($0.0): \($0.1)" }.joined(separator: ", ") + ")"
    }
    if let advice { text += "; " + advice }
    return text
  }
}

extension StoreError {
  package static func damaged(_ what: StaticString, entity: String, id: Int64? = nil) -> StoreError
  {
    var context = [("entity", entity)]
    if let id { context.append(("id", String(id))) }
    return StoreError(.damaged, what, context, advice: "run `mooring check`")
  }

  package static func unknownEntity(_ name: String, in schema: Schema) -> StoreError {
    let names = schema.entities.filter { !$0.isSystem }.map(\.name).sorted()
    return StoreError(
      .unknownEntity, "no such entity", [("entity", name)],
      advice: names.isEmpty
        ? "the store has none; run `mooring migrate up`"
        : NearestName.advice(
          on: name, among: names, otherwise: "the store has " + names.joined(separator: ", ")))
  }

  /// Returns the error that names the most similar attribute, or all that exist.
  public static func unknownAttribute(
    _ name: String, in entity: EntityDescription
  ) -> StoreError {
    let names = entity.attributes.filter { !$0.isHidden }.map(\.name)
    let relationships = entity.relationships.filter { !$0.isHidden }.map(\.name)
    return StoreError(
      .unknownAttribute, "no such attribute", [("entity", entity.name), ("attribute", name)],
      advice: NearestName.advice(
        on: name, among: names + relationships,
        otherwise: "it has " + names.joined(separator: ", ")))
  }

  package static func validation(
    _ failure: ValidationFailure, entity: String, attribute: String, id: Int64? = nil
  ) -> StoreError {
    StoreError(
      .validation, "a value breaks a rule of its attribute",
      [("entity", entity), ("attribute", attribute), ("rule", failure.description)],
      object: id.map { ObjectID(entity: entity, number: $0) }, property: attribute)
  }
}

extension StoreError {
  /// True if a repetition may succeed without a change of the program. Some file systems report a
  /// full device as one that has failed.
  package var passes: Bool {
    switch underlying?.code {
    case .diskFull, .inputOutput, .mapFull, .busy, .readersFull: true
    default: false
    }
  }
}

/// Converts LMDB's errors into `StoreError`, so that no other module sees them.
package func translatingStorageErrors<R>(_ body: () throws -> R) throws -> R {
  do {
    return try body()
  } catch let error as StorageError {
    if error.code == .storeMissing {
      throw StoreError(
        .storeMissing, "there is no store here", error.context.filter { $0.0 == "path" },
        advice: "make one with `mooring migrate up` or `mooring sync URL`, or name another folder "
          + "with --store")
    }
    throw StoreError(error)
  }
}
