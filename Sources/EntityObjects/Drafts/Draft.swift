public import EntityModel
public import EntityStore
import SystemSupport

/// A set of changes in memory over a store, like a context of Core Data. The draft's own reads see
/// the changes; `save()` writes them in one transaction, and `rollback()` discards them.
///
/// ```swift
/// let draft = store.draft(author: "ui")
/// let walk = try draft.insert(Walk(title: "Harbor"))
/// try draft.update(Dog.self, dog) { $0.walks += 1 }
/// let identities = try await draft.save()
/// ```
///
/// Every read sees the newest commit with the draft's changes over it. The save applies the rules
/// of attributes, unique indexes, delete rules, and links of to-many relationships. Until then
///
/// - records that a deletion will delete or unlink by a delete rule are unchanged;
/// - a to-many relationship leads to the records that it has in the store, with the draft's values;
///   a to-one relationship that is stored as a reference leads to the record that the draft gives
///   it, and one by key to the record that has the key in the store.
///
/// A record that the draft inserts has a temporary identity (`ObjectID.isTemporary`), which may be
/// used wherever an identity is expected. `save()` returns the final one.
///
/// A draft belongs to one isolation domain: it is not `Sendable`. The changes are kept in memory,
/// at most `Limits.pendingChangesMax` of them, and are not visible to the store.
public final class Draft {
  public let store: Store
  /// The author of the transaction; see `Store.write`.
  public let author: String?
  /// The treatment of records that other writers have changed too, at the next save.
  public var mergePolicy: MergePolicy
  private(set) var pending = PendingChanges()
  private var isSaving = false

  init(_ store: Store, author: String?, mergePolicy: MergePolicy) {
    self.store = store
    self.author = author
    self.mergePolicy = mergePolicy
  }

  // MARK: State

  /// True if a save would change something. Values that were set back are no change.
  public var hasChanges: Bool { !pending.isEmpty }

  /// The inserted records, in order of entity name, then of creation.
  public var insertedObjects: [ObjectID] { pending.identities(.inserted) }
  /// The records with changed values, in order of entity name, then of identity. Changed links of
  /// to-many relationships do not count.
  public var updatedObjects: [ObjectID] { pending.identities(.updated) }
  /// The deleted records, in order of entity name, then of identity.
  public var deletedObjects: [ObjectID] { pending.identities(.deleted) }

  // MARK: Saving

  /// Writes all changes in one transaction, and returns after its durable commit. The draft is then
  /// empty. It cannot be changed while it is being saved.
  ///
  /// Rows are written first, then links in the order in which they were changed, then records are
  /// deleted: a record that the draft has moved away from a deleted record is not deleted with it.
  /// A unique value may pass from one record to another, but two records cannot swap theirs.
  ///
  /// - Returns: The final identities of the inserted records, by their temporary ones.
  /// - Throws: `conflict`, depending on the merge policy; `validation`, `uniqueViolation`,
  ///   `deletionDenied`, `missingRecord` for what the store refuses; `schemaMismatch`; the errors
  ///   of `Store.write`. Store and draft are then unchanged. The error's `object` and `property`
  ///   give what was refused, with this draft's identities, and `others` the further refusals: all
  ///   conflicts if there is one, otherwise all broken rules.
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

  /// Discards all changes. A save that is running continues.
  public func rollback() { pending = PendingChanges() }

  /// Discards the changes of one record: its insertion, or its changed values, its deletion and the
  /// links that were changed from its side.
  public func rollback(_ id: ObjectID) throws {
    try change { $0.rollback(id) }
  }

  // MARK: Within

  /// Changes the pending changes.
  ///
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
  /// Returns a new, empty draft.
  ///
  /// - Parameter author: The author of the transaction that saves the draft.
  public func draft(author: String? = nil, mergePolicy: MergePolicy = .error) -> Draft {
    Draft(self, author: author, mergePolicy: mergePolicy)
  }
}

/// The source of temporary numbers. No two drafts of a process get the same number, so that an
/// identity of another draft, or from before a save, leads to no record instead of to a wrong one.
enum TemporaryNumbers {
  private static let next = Locked(ObjectID.firstTemporaryNumber)

  static func take() -> Int64 {
    next.withLock { next in
      defer { next += 1 }
      return next
    }
  }
}
