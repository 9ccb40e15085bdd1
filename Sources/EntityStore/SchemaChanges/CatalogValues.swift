import LMDB

extension Store {
  /// Runs a closure in a transaction that may change the schema, in a commit of its own. Blocks the
  /// calling thread.
  ///
  /// - Throws: The errors of the closure, and then nothing was changed; `newerFormat`; `closed`;
  ///   a storage failure.
  package func changeSchema<R>(_ body: (SchemaTransaction) throws -> R) throws -> R {
    try runAlone { writing, scratch in
      let transaction = try SchemaTransaction(writing, scratch, of: self)
      let result = try body(transaction)
      try transaction.finish()
      return result
    }
  }

  /// Reads a value of the catalog that has a key of its own.
  ///
  /// - Returns: `nil` if there is no value for the key.
  package func catalogValue<T: Decodable>(
    _ type: T.Type, at key: [UInt8], in transaction: ReadTransaction
  ) throws -> T? {
    try CatalogTree.read(type, at: key, catalogTree, in: transaction.transaction)
  }

  /// Changes a value of the catalog that is no part of the schema, in a commit of its own. Blocks
  /// the calling thread.
  ///
  /// - Parameter change: Called with the stored value; `nil` means that there is none.
  package func changeCatalogValue<T: Codable>(
    _ type: T.Type, at key: [UInt8], _ change: (inout T?) throws -> Void
  ) throws {
    try runAlone { transaction in
      let isSealed = try CatalogSeal.check(catalogTree, in: transaction)
      var value = try CatalogTree.read(type, at: key, catalogTree, in: transaction)
      try change(&value)
      if let value {
        try transaction.put(catalogTree, key: key, value: try CatalogTree.encode(value))
      } else {
        try key.withUnsafeBytes { _ = try transaction.delete(catalogTree, key: $0) }
      }
      if isSealed { try CatalogSeal.write(catalogTree, in: transaction) }
    }
  }

  /// Returns the record id that the next record of an entity gets.
  package func nextID(of entity: EntityLayout, in transaction: ReadTransaction) throws -> Int64 {
    try CatalogTree.readNextID(of: entity, catalogTree, in: transaction.transaction)
  }

  /// Drops a tree that the catalog does not name, in a commit of its own; does nothing if it is
  /// missing. Older snapshots still see the tree.
  package func dropOrphan(named name: String) throws {
    try runAlone { transaction in
      guard let tree = try environment.tree(named: name, in: transaction) else { return }
      try transaction.drop(tree)
    }
  }
}
