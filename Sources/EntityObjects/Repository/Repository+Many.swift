public import EntityModel
public import EntityStore

/// Operations on many records, each in two forms.
///
/// The plain form processes each item independently, in the order in which they are passed, in
/// commits of bounded size: an item that is refused has changed nothing and does not prevent others
/// from being written. It does not throw. When a commit fails or the task is cancelled, the items
/// of that commit and all later ones are reported as failed, and earlier commits stay.
///
/// The atomic form writes all items or none, in one commit, for which other writers wait. Its error
/// names the first refused item by its place, counted from 0.
extension Repository {
  /// Writes values as new records.
  public func insert<T: Entity>(
    _ values: [T], author: String? = nil
  ) async -> ItemResults<T, Identified<T>> {
    await insertion(author).run(values)
  }

  /// Writes all of the values as new records, or none.
  ///
  /// - Returns: The stored values with their identities, in the order of the values.
  /// - Throws: The errors of `insert(_:author:)` for one value.
  @discardableResult
  public func insertAtomically<T: Entity>(
    _ values: [T], author: String? = nil
  ) async throws -> [Identified<T>] {
    try await insertion(author).runAtomically(values)
  }

  /// Replaces the values of records.
  public func update<T: Entity>(
    _ changed: [Identified<T>], author: String? = nil
  ) async -> ItemResults<Identified<T>, Identified<T>> {
    await replacement(author).run(changed)
  }

  /// Replaces the values of all of the records, or of none.
  ///
  /// - Throws: The errors of `update(_:author:)` for one record.
  @discardableResult
  public func updateAtomically<T: Entity>(
    _ changed: [Identified<T>], author: String? = nil
  ) async throws -> [Identified<T>] {
    try await replacement(author).runAtomically(changed)
  }

  /// Deletes records. A record that a delete rule has deleted together with an earlier one is
  /// missing, and is therefore reported as failed.
  public func delete(
    _ ids: [ObjectID], author: String? = nil
  ) async -> ItemResults<ObjectID, ObjectID> {
    await deletion(author).run(ids)
  }

  /// Deletes all of the records, or none. A record that a delete rule has deleted together with an
  /// earlier one is missing.
  ///
  /// - Throws: The errors of `delete(_:author:)` for one record.
  public func deleteAtomically(_ ids: [ObjectID], author: String? = nil) async throws {
    _ = try await deletion(author).runAtomically(ids)
  }

  /// Reads records, all on one snapshot.
  ///
  /// - Throws: Errors that end the whole read: `CancellationError`, `snapshotExpired`, a storage
  ///   failure.
  public func get<T: Entity>(
    _ type: T.Type, _ ids: [ObjectID]
  ) async throws -> ItemResults<ObjectID, Identified<T>> {
    try await snapshot { transaction in
      var outcome = ItemResults<ObjectID, Identified<T>>()
      for (index, id) in ids.enumerated() {
        outcome.add(try transaction.result(type, id), of: id, at: index)
      }
      return outcome
    }
  }

  /// Reads all of the records on one snapshot, or none.
  ///
  /// - Returns: The values in the order of the identities.
  /// - Throws: The errors of `get(_:_:)` for one record.
  public func getAtomically<T: Entity>(
    _ type: T.Type, _ ids: [ObjectID]
  ) async throws -> [Identified<T>] {
    try await snapshot { transaction in
      try ids.enumerated().map { index, id in
        do {
          return try transaction.stored(type, id)
        } catch let error as StoreError {
          throw error.about("item", String(index))
        }
      }
    }
  }

  // MARK: What is done for each

  private func insertion<T: Entity>(_ author: String?) -> ItemWrites<T, Identified<T>> {
    ItemWrites(store: store, author: author ?? self.author) {
      try $0.insert($1)
    } read: {
      try $0.stored(T.self, $1)
    }
  }

  private func replacement<T: Entity>(
    _ author: String?
  ) -> ItemWrites<Identified<T>, Identified<T>> {
    ItemWrites(store: store, author: author ?? self.author) {
      try $0.overwrite($1)
    } read: {
      try $0.stored(T.self, $1)
    }
  }

  private func deletion(_ author: String?) -> ItemWrites<ObjectID, ObjectID> {
    ItemWrites(store: store, author: author ?? self.author) {
      try $0.deleteExisting($1)
    } read: {
      $1
    }
  }
}

extension ReadTransaction {
  /// Reads one record; an error of the record itself becomes its result.
  ///
  /// - Throws: Errors that are not about this record and end the whole read.
  fileprivate func result<T: Entity>(
    _ type: T.Type, _ id: ObjectID
  ) throws -> Result<Identified<T>, any Error> {
    do {
      return .success(try stored(type, id))
    } catch let error where error.endsTransaction || error is CancellationError {
      throw error
    } catch let error as StoreError where error.code == .snapshotExpired {
      throw error
    } catch {
      return .failure(error)
    }
  }
}
