public import EntityModel
import Glibc
package import SystemSupport
import TextFormats

/// An error of the store.
///
/// Callers branch on `code`; the text is one line for people: what happened, where, what to do.
/// Failures of the system, of the device and of LMDB have codes, too: `busy` and those after it.
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
    /// The records of a draft were changed by another transaction after the draft had read them, or
    /// the schema by another process after rows were made for it.
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
    /// Another process or call holds the lock or the lease that the call needs.
    case busy
    /// Every reader slot of the store is taken.
    case readersFull
    /// The device, the quota or the limit on file sizes leaves no room.
    case diskFull
    /// The store has grown to the size of its map (`Store.Options.mapSize`).
    case mapFull
    /// The store is open for reading only, or its file system is mounted read-only.
    case readOnly
    /// The system denies access to a file or folder.
    case notPermitted
    /// The path is that of something other than a folder.
    case notAFolder
    /// The device failed.
    case inputOutput
    /// Several machines write to the store, and its commit log was not given, or is none that this
    /// program can use.
    case needsCommitLog
    /// The commit log of the store cannot be reached.
    case unreachable
    /// The store has other commits than its log.
    case diverged
    /// The changes are stored in the commit log, and become visible here later. The write must not
    /// be repeated.
    case notHereYet
    /// It is not known whether the changes are stored in the commit log.
    case unknownOutcome
    /// Any other failure of LMDB or of the system; summary and context say which.
    case storage
  }

  public let code: Code
  /// The summary without interpolated values, so that failures can be counted by it.
  public let summary: StaticString
  public package(set) var context: [(String, String)]
  public let advice: String?
  /// True if the system, the device or LMDB has failed; false if the request, the records or the
  /// schema are the cause. An error of the code `damaged` may be either.
  public private(set) var isStorageFailure: Bool
  /// The record that the error is about, if the caller should know which of many.
  public package(set) var object: ObjectID?
  /// The attribute or the relationship that the error is about.
  public package(set) var property: String?
  /// The other errors for which the same call was refused, in the order in which they were found.
  public package(set) var others: [StoreError] = []

  package init(
    _ code: Code, _ summary: StaticString, _ context: [(String, String)] = [],
    advice: String? = nil, object: ObjectID? = nil, property: String? = nil
  ) {
    self.code = code
    self.summary = summary
    self.context = context
    self.advice = advice
    self.object = object
    self.property = property
    isStorageFailure = code.isOfStorage
  }

  /// Creates the error for a failure of the storage layer.
  package init(_ failure: StorageError) {
    if failure.code == .storeMissing {
      self = .storeMissing(failure.context.filter { $0.0 == "path" })
      return
    }
    self.init(
      Code(failure.code), failure.summary, failure.context, advice: "\(failure.advice)")
    isStorageFailure = true
  }

  public var description: String {
    var text = "\(summary)"
    if !context.isEmpty {
      text += " (" + context.map { "\($0.0): \($0.1)" }.joined(separator: ", ") + ")"
    }
    if let advice { text += "; " + advice }
    return text
  }
}

extension StoreError {
  /// True if the same work, begun again later, can succeed: when another process has finished, when
  /// there is room again, on a newer snapshot, or, after `conflict`, in a new draft.
  public var isTemporary: Bool { passes || code == .snapshotExpired || code == .conflict }

  /// True for a failure of the machine that may end by itself or when someone makes room: work
  /// waits for its end, without counting an attempt. Some file systems report a full device as one
  /// that has failed.
  package var passes: Bool {
    switch code {
    case .busy, .readersFull, .diskFull, .mapFull, .inputOutput, .unreachable: true
    default: false
    }
  }
}

extension StoreError.Code {
  fileprivate init(_ code: StorageError.Code) {
    self =
      switch code {
      case .storeMissing: .storeMissing
      case .notAFolder: .notAFolder
      case .permission: .notPermitted
      case .readOnly: .readOnly
      case .diskFull: .diskFull
      case .inputOutput: .inputOutput
      case .mapFull: .mapFull
      case .readersFull: .readersFull
      case .damaged: .damaged
      case .notAStore: .notAStore
      case .busy: .busy
      case .needsCommitLog: .needsCommitLog
      case .unreachable: .unreachable
      case .diverged: .diverged
      case .notHereYet: .notHereYet
      case .unknownOutcome: .unknownOutcome
      case .valueTooLarge, .keyInvalid, .tooManyTrees, .addressSpace, .programming, .other: .storage
      }
  }

  /// Returns the code for a file that the system does not let this process open or remove.
  package static func refusal(_ error: SystemError) -> StoreError.Code {
    error.number == EROFS ? .readOnly : .notPermitted
  }

  fileprivate var isOfStorage: Bool {
    switch self {
    case .busy, .readersFull, .diskFull, .mapFull, .readOnly, .notPermitted, .notAFolder,
      .inputOutput, .needsCommitLog, .unreachable, .diverged, .notHereYet, .unknownOutcome,
      .storage:
      true
    default: false
    }
  }
}

extension Error {
  /// True for a failure of the storage layer. Such an error ends the transaction; within the
  /// closure of the transaction it is not a `StoreError` yet.
  package var endsTransaction: Bool {
    self is StorageError || (self as? StoreError)?.isStorageFailure == true
  }
}

/// Runs a closure and converts LMDB's errors into `StoreError`, so that no other module sees them.
package func translatingStorageErrors<R>(_ body: () throws -> R) throws -> R {
  do {
    return try body()
  } catch let error as StorageError {
    throw StoreError(error)
  }
}

extension StoreError {
  package static func storeMissing(_ context: [(String, String)]) -> StoreError {
    StoreError(
      .storeMissing, "there is no store here", context,
      advice: "make one with `mooring migrate up` or `mooring sync URL`, or name another folder "
        + "with --store")
  }

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
