package import LMDB

extension Store {
  /// The position of the store in its commit log; `nil` if it has none.
  package var logPosition: LogPosition? {
    get throws {
      try translatingStorageErrors {
        try environment.read { try environment.logPosition(in: $0) }
      }
    }
  }

  /// The position of the store in its commit log and a hash of everything that it has there; `nil`
  /// if it has no log. All machines at one position have the same hash.
  ///
  /// - Complexity: O(size of the store).
  package func digest() throws -> (position: LogPosition, digest: UInt128)? {
    try translatingStorageErrors {
      try environment.read { transaction -> (position: LogPosition, digest: UInt128)? in
        guard let position = try environment.logPosition(in: transaction) else { return nil }
        return (position, try environment.digest(in: transaction))
      }
    }
  }

  /// Applies what other machines have committed, so that the next read sees it. Blocks the calling
  /// thread; does nothing without a commit log.
  ///
  /// - Throws: `unreachable`, `diverged`, `busy`; `damaged` for an entry of the log that does not
  ///   fit; a storage failure.
  public func catchUp() throws {
    guard options.commitLog != nil else { return }
    try checkOpenForWriting()
    try writer.catchUp()
  }

  /// Takes a lock that holds on all machines, and applies what its former holders have committed:
  /// the next read sees it. Blocks the calling thread.
  ///
  /// - Returns: `nil` if another machine has it.
  /// - Throws: The errors of `catchUp`; the lock is released then.
  package func takeSharedLock(_ name: String) throws -> (any SharedLock)? {
    let lock = try translatingStorageErrors { try options.sharedLocks.take(name) }
    do {
      if lock != nil { try catchUp() }
    } catch {
      lock?.release()
      throw error
    }
    return lock
  }

  /// Makes a commit log the order of all later commits. What the store has now is the beginning of
  /// the log. Blocks the calling thread.
  ///
  /// - Throws: The errors of `write`; `storage` if the store has a commit log.
  package func beginLog(_ hub: UInt128) throws {
    try runAlone { transaction in
      try setLogFeature(true, in: transaction)
      try environment.beginLog(hub, in: transaction)
    }
  }

  /// Makes the store independent of its commit log; does nothing if it has none. Blocks the calling
  /// thread.
  ///
  /// - Throws: The errors of `write`.
  package func endLog() throws {
    try checkOpenForWriting()
    try writer.endLog { try setLogFeature(false, in: $0) }
  }

  private func setLogFeature(_ isSet: Bool, in transaction: TreeWriter) throws {
    let isSealed = try CatalogSeal.check(catalogTree, in: transaction)
    var header = try StoredCatalog.readHeader(catalogTree, in: transaction)
    header.revision &+= 1
    if isSet {
      header.readCompatibleFeatures |= CatalogHeader.commitLogFeature
    } else {
      header.readCompatibleFeatures &= ~CatalogHeader.commitLogFeature
    }
    try transaction.put(catalogTree, key: CatalogTree.headerKey, value: header.encoded())
    if isSealed { try CatalogSeal.write(catalogTree, in: transaction) }
  }
}
