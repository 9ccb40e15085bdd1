public import EntityModel
public import EntityStore
import LMDB
import SystemSupport

/// A scratchpad over a store, as Core Data's context is: changes are collected here, seen by this
/// draft's own reads, and written by `save()` in one transaction, or forgotten by `rollback()`.
///
/// ```swift
/// let draft = store.draft(author: "ui")
/// let walk = try draft.insert(Walk(title: "Harbor"))
/// try draft.update(Dog.self, dog) { $0.walks += 1 }
/// let identities = try await draft.save()
/// ```
///
/// Every read sees the newest commit with the draft's changes over it. What the store sees to when
/// it writes is seen to at the save: the rules of attributes, unique indexes, delete rules, and
/// links to many records. Until then
/// - records that a deletion will take along, or whose links it will end, are as they were;
/// - a to-many relationship leads to the records that it has in the store, with the draft's values;
///   a to-one relationship that a reference holds leads where the draft has it lead, and one by key
///   to the record that has the key in the store.
///
/// A record that the draft inserts has a temporary identity (`ObjectID.isTemporary`), which may be
/// used wherever an identity is asked for. `save()` says what became of it.
///
/// A draft is for one isolation domain: it is not `Sendable`. The changes are kept in memory, at
/// most
/// `Limits.pendingChangesMax` of them, and the store knows nothing of them.
public final class Draft {
  public let store: Store
  /// Who writes, as `Store.write` takes it.
  public let author: String?
  /// What the next save does where somebody else has changed a record, too.
  public var mergePolicy: MergePolicy
  private(set) var pending = PendingChanges()
  private var isSaving = false

  init(_ store: Store, author: String?, mergePolicy: MergePolicy) {
    self.store = store
    self.author = author
    self.mergePolicy = mergePolicy
  }

  // MARK: State

  /// Whether a save would have something to do. Values that were set back are no change.
  public var hasChanges: Bool { !pending.isEmpty }

  /// In order of entity name, then of creation.
  public var insertedObjects: [ObjectID] { pending.identities(.inserted) }
  /// In order of entity name, then of identity. A change of links to many records is none of them.
  public var updatedObjects: [ObjectID] { pending.identities(.updated) }
  /// In order of entity name, then of identity.
  public var deletedObjects: [ObjectID] { pending.identities(.deleted) }

  // MARK: Saving

  /// Writes all changes in one transaction and returns after its durable commit. The draft is empty
  /// then. It cannot be changed while it is being saved.
  ///
  /// Rows are written first, then links in the order in which they were changed, then records are
  /// deleted: a record that a draft has moved away from another one does not go with it. A unique
  /// value may pass from one record to another, but two records cannot swap theirs.
  ///
  /// - Returns: The identities that the inserted records got, by their temporary ones.
  /// - Throws: Without having changed store or draft: `conflict`, by the merge policy;
  ///   `validation`, `uniqueViolation`, `deletionDenied`, `missingRecord` for what the store
  ///   refuses;
  ///   `schemaMismatch`; else as `Store.write`. The error's `object`, `property` say what was
  ///   refused, by this draft's identities, and `others` what else was: of conflicts all conflicts,
  ///   and only where there is none all broken rules.
  @discardableResult
  public nonisolated(nonsending) func save() async throws -> [ObjectID: ObjectID] {
    try requireNotSaving()
    if pending.isEmpty { return [:] }
    isSaving = true
    defer { isSaving = false }
    let save = DraftSave(pending: pending, policy: mergePolicy)
    let identities = try await store.write(author: author) { try save.run(in: $0) }
    pending = PendingChanges()
    return identities
  }

  /// Forgets all changes. A save that is under way goes on.
  public func rollback() { pending = PendingChanges() }

  /// Forgets what was changed of one record: an insertion altogether, else its values, its deletion
  /// and the links that were changed from its side.
  public func rollback(_ id: ObjectID) throws {
    try change { $0.rollback(id) }
  }

  // MARK: Within

  /// - Throws: `invalidRequest` during a save.
  func change<R>(_ body: (inout PendingChanges) throws -> R) throws -> R {
    try requireNotSaving()
    return try body(&pending)
  }

  /// Runs a closure on a new snapshot with the pending changes over it.
  func read<R>(_ body: (DraftTransaction) throws -> R) throws -> R {
    try store.read { snapshot in
      let overlay = try DraftTransaction(snapshot, pending)
      // It owns the bytes of the pending records, of which the closure has views.
      return try withExtendedLifetime(overlay) { try body(overlay) }
    }
  }

  private func requireNotSaving() throws(StoreError) {
    guard isSaving else { return }
    throw StoreError(
      .invalidRequest, "the draft is being saved", advice: "wait for its save to return")
  }
}

@available(*, unavailable)
extension Draft: Sendable {}

extension Store {
  /// A new draft, which is empty.
  ///
  /// - Parameter author: Who writes when the draft is saved.
  public func draft(author: String? = nil, mergePolicy: MergePolicy = .error) -> Draft {
    Draft(self, author: author, mergePolicy: mergePolicy)
  }
}

/// Hands out temporary numbers. No two drafts of a process get the same one, so that an identity
/// of another draft, or from before a save, leads to no record instead of to a wrong one.
enum TemporaryNumbers {
  private static let next = Locked(ObjectID.firstTemporaryNumber)

  static func take() -> Int64 {
    next.withLock { next in
      defer { next += 1 }
      return next
    }
  }
}
