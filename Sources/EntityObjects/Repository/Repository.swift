public import EntityModel
public import EntityStore
public import Foundation

/// Asynchronous methods on the values of a store, without explicit transactions: insert, get,
/// update, delete, fetch, count and aggregate.
///
/// ```swift
/// let repository = Repository(store, author: "ui")
/// var walk = try await repository.insert(Walk(title: "Round the lake"))
/// walk.value.title = "Round the lake twice"
/// try await repository.update(walk)
/// let total = try await repository.sum(of: \Walk.kilometers)
/// ```
///
/// Each write returns after its durable commit. Each read uses one snapshot, and runs on the
/// store's own threads; it ends with `CancellationError` when its task is cancelled, and with
/// `snapshotExpired` when it takes longer than `options` allow. A failed read always throws; it
/// never returns an empty result instead.
///
/// In addition to the errors that it names, each method throws `unknownEntity`, `unknownAttribute`,
/// `unknownRelationship`, `schemaMismatch`, `damaged`, storage failures and the errors of the
/// type's
/// `init(from:)`; a write also `needsMigration`, `newerSchema`, `busy`, `readOnly`. A write that
/// throws has changed nothing.
public struct Repository: Sendable {
  public let store: Store
  /// The author of writes for which the call gives none.
  public var author: String?
  /// The options of reads, such as the longest duration.
  public var options = AsynchronousFetchOptions()

  public init(_ store: Store, author: String? = nil) {
    self.store = store
    self.author = author
  }

  // MARK: One record

  /// Writes a value as a new record.
  ///
  /// - Returns: The value as it is stored, and its new identity.
  /// - Throws: `validation`, `uniqueViolation`.
  @discardableResult
  public func insert<T: Entity>(
    _ value: T, author: String? = nil
  ) async throws -> Identified<T> {
    try await transaction(author: author) { transaction in
      try transaction.stored(T.self, try transaction.insert(value))
    }
  }

  /// Returns the record with this identity.
  ///
  /// - Throws: `missingRecord`; `invalidRequest` for an identity of another entity.
  public func get<T: Entity>(_ type: T.Type, _ id: ObjectID) async throws -> T {
    try await snapshot { try $0.stored(type, id).value }
  }

  /// Returns the record that a URL refers to.
  ///
  /// - Throws: `missingRecord`; `invalidRequest` for a URL that refers to no record of this store,
  ///   or to one of another entity.
  public func get<T: Entity>(_ type: T.Type, at url: URL) async throws -> Identified<T> {
    try await snapshot { try $0.stored(type, try $0.objectID(at: url)) }
  }

  /// Replaces the values of a record; attributes that the type does not declare keep their values.
  ///
  /// - Returns: The value as it is stored.
  /// - Throws: `missingRecord`, `validation`, `uniqueViolation`; `invalidRequest` for an identity
  ///   of another entity.
  @discardableResult
  public func update<T: Entity>(
    _ id: ObjectID, with value: T, author: String? = nil
  ) async throws -> T {
    try await update(Identified(id, value), author: author).value
  }

  /// Replaces the values of a record; see `update(_:with:author:)`.
  @discardableResult
  public func update<T: Entity>(
    _ changed: Identified<T>, author: String? = nil
  ) async throws -> Identified<T> {
    try await transaction(author: author) { transaction in
      try transaction.stored(T.self, try transaction.overwrite(changed))
    }
  }

  /// Deletes a record. The delete rules decide what happens to linked records.
  ///
  /// - Throws: `missingRecord`, `deletionDenied`.
  public func delete(_ id: ObjectID, author: String? = nil) async throws {
    try await transaction(author: author) { _ = try $0.deleteExisting(id) }
  }

  // MARK: References

  /// Returns the identity that a URL refers to. The record need not exist.
  ///
  /// - Throws: `invalidRequest` for a URL that refers to no record of this store.
  public func objectID(at url: URL) async throws -> ObjectID {
    try await snapshot { try $0.objectID(at: url) }
  }

  /// Returns the URL that identifies a record outside of the program.
  public func url(of id: ObjectID) async throws -> URL {
    try await snapshot { id.url(in: $0.storeID) }
  }

  // MARK: Whatever else

  /// Runs several writes in one transaction; see `Store.write`.
  @discardableResult
  public func transaction<R: Sendable>(
    author: String? = nil, _ body: @escaping @Sendable (WriteTransaction) throws -> R
  ) async throws -> R {
    try await store.write(author: author ?? self.author, body)
  }

  func snapshot<R: Sendable>(
    _ body: @escaping @Sendable (ReadTransaction) throws -> R
  ) async throws -> R {
    try await store.readAsynchronously(options: options, body)
  }
}

extension ReadTransaction {
  /// Returns the value of an existing record.
  ///
  /// - Throws: `missingRecord`.
  func stored<T: Entity>(_ type: T.Type, _ id: ObjectID) throws -> Identified<T> {
    guard let value = try get(type, id) else { throw StoreError.missing(id) }
    return Identified(id, value)
  }

  fileprivate func objectID(at url: URL) throws -> ObjectID {
    if let id = ObjectID(url: url, in: storeID) { return id }
    throw StoreError(
      .invalidRequest, "a URL refers to no record of this store",
      [("url", url.absoluteString)],
      advice: "a reference begins with mooring://\(storeID.uuidString.lowercased())/")
  }
}

extension WriteTransaction {
  /// Replaces the values of an existing record.
  ///
  /// - Throws: `missingRecord`.
  func overwrite<T: Entity>(_ changed: Identified<T>) throws -> ObjectID {
    try update(T.self, changed.id) { $0 = changed.value }
    return changed.id
  }

  /// Deletes an existing record.
  ///
  /// - Throws: `missingRecord`.
  func deleteExisting(_ id: ObjectID) throws -> ObjectID {
    guard try delete(id) else { throw StoreError.missing(id) }
    return id
  }
}
