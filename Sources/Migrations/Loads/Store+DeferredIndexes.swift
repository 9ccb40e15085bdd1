package import EntityModel
public import EntityStore

/// An index that a load has set aside and that is not built again yet.
public struct DeferredIndex: Codable, Hashable, Sendable {
  public let entity: String
  public let index: String
  /// The keys of the index as a migration file writes them.
  public let keys: String
}

extension Store {
  /// Returns the indexes that loads have set aside: by one that is running, or by one that was
  /// interrupted.
  public func deferredIndexes() throws -> [DeferredIndex] {
    let catalog = try catalog()
    return catalog.schema.entities.flatMap { entity in
      catalog.deferred[entity.id].map {
        DeferredIndex(entity: entity.name, index: $0.name, keys: entity.keyText(of: $0))
      }
    }
  }

  /// Returns the schema with the indexes that loads have set aside in their places.
  package func completeSchema() throws -> Schema {
    let catalog = try catalog()
    return catalog.deferred.restored(in: catalog.schema)
  }

  /// Builds the indexes that an interrupted load has set aside. Does nothing if there are none.
  ///
  /// Blocks the calling thread until the end, as `migrate` does; others can read and write. The
  /// next call continues an interrupted one.
  ///
  /// - Throws: `busy` while the load or a migration runs; `damaged` for a record that cannot be
  ///   read; `diskFull`, `mapFull` or another storage failure; `CancellationError`. The indexes are
  ///   then still set aside, and the store works without them.
  public func buildDeferredIndexes(_ options: MigrationOptions = MigrationOptions()) throws {
    if try catalog().deferred.isEmpty { return }
    let lock = try MigrationLock(
      of: self, within: options.wait, isCancelled: options.isCancelled)
    try DeferredIndexBuild(migrator: Migrator(self, options)).run()
    withExtendedLifetime(lock) {}
  }

  /// Builds the indexes of a load whose process has ended. Does nothing while a load or a migration
  /// runs, and in a store that this program can only read.
  ///
  /// - Throws: A storage failure. Without room for the indexes, with a damaged record, and if this
  ///   program lacks a collation, they stay set aside: the store can be used without them, but only
  ///   for reading if they were created with another version of a collation.
  func finishInterruptedLoads() throws {
    let catalog = try catalog()
    guard !catalog.deferred.isEmpty, try migrationState().unknown.isEmpty,
      (try? catalog.checkWritable()) != nil
    else { return }
    do {
      try buildDeferredIndexes()
    } catch let error as StoreError where error.leavesIndexesDeferred || error.code == .busy {
      // `migrate` and `buildDeferredIndexes` report the error.
    }
  }
}

extension StoreError {
  /// True for an error of the construction of deferred indexes without which the store can be used.
  var leavesIndexesDeferred: Bool {
    [.damaged, .diskFull, .invalidRequest, .mapFull].contains(code)
  }
}
