public import EntityModel
public import EntityStore
import LMDB
import SystemSupport

/// Many records at once, each call in two forms.
///
/// The plain form takes each item for itself, in the order in which they are passed, in commits of
/// bounded size: an item that is refused has changed nothing and keeps no other from being written.
/// It does not throw; when a commit fails or the task is cancelled, the items of that commit and
/// all after them are among the failed, and what was committed before stays.
///
/// The atomic form takes all or none, in one commit, which other writers wait for. Its error says
/// which item was refused first, by its place from 0.
extension Repository {
  /// Writes values as new records.
  public func create<T: Entity>(
    _ values: [T], author: String? = nil
  ) async -> BatchOutcome<T, Identified<T>> {
    await creation(author).run(values)
  }

  /// Writes all of the values as new records, or none.
  ///
  /// - Returns: In the order of the values.
  /// - Throws: As `create(_:author:)` of one.
  @discardableResult
  public func createAtomically<T: Entity>(
    _ values: [T], author: String? = nil
  ) async throws -> [Identified<T>] {
    try await creation(author).runAtomically(values)
  }

  /// Writes values over their records.
  public func update<T: Entity>(
    _ changed: [Identified<T>], author: String? = nil
  ) async -> BatchOutcome<Identified<T>, Identified<T>> {
    await overwriting(author).run(changed)
  }

  /// Writes all of the values over their records, or none.
  ///
  /// - Throws: As `update(_:author:)` of one.
  @discardableResult
  public func updateAtomically<T: Entity>(
    _ changed: [Identified<T>], author: String? = nil
  ) async throws -> [Identified<T>] {
    try await overwriting(author).runAtomically(changed)
  }

  /// Removes records. One that is gone because a delete rule has removed it with an earlier one is
  /// missing, and so among the failed.
  public func delete(
    _ ids: [ObjectID], author: String? = nil
  ) async -> BatchOutcome<ObjectID, ObjectID> {
    await deletion(author).run(ids)
  }

  /// Removes all of the records, or none. One that is gone because a delete rule has removed it
  /// with an earlier one is missing.
  ///
  /// - Throws: As `delete(_:author:)` of one.
  public func deleteAtomically(_ ids: [ObjectID], author: String? = nil) async throws {
    _ = try await deletion(author).runAtomically(ids)
  }

  /// Reads records, all on one snapshot.
  ///
  /// - Throws: What ends the whole read: `CancellationError`, `snapshotExpired`, `storage`.
  public func read<T: Entity>(
    _ type: T.Type, _ ids: [ObjectID]
  ) async throws -> BatchOutcome<ObjectID, Identified<T>> {
    try await snapshot { transaction in
      var outcome = BatchOutcome<ObjectID, Identified<T>>()
      for (index, id) in ids.enumerated() {
        outcome.add(try transaction.result(type, id), of: id, at: index)
      }
      return outcome
    }
  }

  /// Reads all of the records on one snapshot, or none.
  ///
  /// - Returns: In the order of the identities.
  /// - Throws: As `read(_:_:)` of one.
  public func readAtomically<T: Entity>(
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

  private func creation<T: Entity>(_ author: String?) -> BatchWrite<T, Identified<T>> {
    BatchWrite(store: store, author: author ?? self.author) {
      try $0.insert($1)
    } read: {
      try $0.stored(T.self, $1)
    }
  }

  private func overwriting<T: Entity>(
    _ author: String?
  ) -> BatchWrite<Identified<T>, Identified<T>> {
    BatchWrite(store: store, author: author ?? self.author) {
      try $0.overwrite($1)
    } read: {
      try $0.stored(T.self, $1)
    }
  }

  private func deletion(_ author: String?) -> BatchWrite<ObjectID, ObjectID> {
    BatchWrite(store: store, author: author ?? self.author) {
      try $0.deleteExisting($1)
    } read: {
      $1
    }
  }
}

extension ReadTransaction {
  /// - Throws: What is not about this record, but ends the whole read.
  fileprivate func result<T: Entity>(
    _ type: T.Type, _ id: ObjectID
  ) throws -> Result<Identified<T>, any Error> {
    do {
      return .success(try stored(type, id))
    } catch let error where error is StorageError || error is CancellationError {
      throw error
    } catch let error as StoreError where error.code == .snapshotExpired {
      throw error
    } catch {
      return .failure(error)
    }
  }
}
