public import EntityModel
public import SystemSupport
import TextFormats

/// What the store refuses or fails at.
///
/// Callers branch on `code`; the text is one line for people: what happened, where, what to do.
public struct StoreError: Error, Sendable, CustomStringConvertible {
  public enum Code: Sendable {
    /// The store is not there.
    case storeMissing
    /// The file is no store, or not one this program can read.
    case notAStore, newerFormat
    /// The schema does not fit what the program needs, or is behind its migrations.
    case schemaMismatch, needsMigration, newerSchema
    /// A migration file or step is wrong, or was changed after it was applied.
    case migration
    /// A seed file is wrong.
    case seed
    /// A name that the schema does not have.
    case unknownEntity, unknownAttribute, unknownRelationship, unknownTemplate
    /// A value breaks a rule of its attribute, or a unique index; records are not as a migration
    /// needs them.
    case validation, uniqueViolation
    /// A record that was expected is not there.
    case missingRecord
    /// A delete rule keeps a record, or a record that must have it does.
    case deletionDenied
    /// A request that makes no sense, or that would need a scan where an index is required.
    case invalidRequest, requiresIndex
    /// A read took longer than its snapshot may live.
    case snapshotExpired
    /// What a draft changed was changed by somebody else meanwhile.
    case conflict
    /// A history token that cannot be read or is of another store; one that the history no longer
    /// reaches back to.
    case invalidToken, expiredToken
    /// Something else is where a store is to be put: another store, or other files.
    case occupied
    /// The store has been closed.
    case closed
    /// Bytes that no version of this program wrote.
    case damaged
    /// A failure of the storage layer: see `underlying`.
    case storage
  }

  public let code: Code
  /// Never interpolated, so that failures can be counted by it.
  public let summary: StaticString
  public let context: [(String, String)]
  public let advice: String?
  /// The storage failure behind `.storage`.
  public let underlying: StorageError?
  /// The record that it is about, where a caller should know which of many.
  public package(set) var object: ObjectID?
  /// The attribute or the relationship that it is about.
  public package(set) var property: String?
  /// What else the same call was refused for, in the order in which it was found.
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

  /// A failure of the storage layer.
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

  static func otherCollation(of index: IndexLayout, in entity: String) -> StoreError {
    StoreError(
      .schemaMismatch, "an index was made with another version of its collation",
      [
        ("entity", entity), ("index", index.description.name),
        ("made with", index.description.collationVersion ?? "no version"),
      ],
      advice:
        "run the same version of the program everywhere and open the store again, which makes "
        + "the index anew; one that cannot be made anew must be dropped by a migration")
  }

  /// The error that names the attribute that may have been meant, or those there are.
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
  /// Whether it may be otherwise in a moment, without anybody doing something about the program.
  /// Some file systems tell a full device as one that has failed.
  package var passes: Bool {
    switch underlying?.code {
    case .diskFull, .inputOutput, .mapFull, .busy, .readersFull: true
    default: false
    }
  }
}
