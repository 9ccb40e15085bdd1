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

  /// Returns the record id that the next record of an entity gets.
  package func nextID(of entity: EntityLayout, in transaction: ReadTransaction) throws -> Int64 {
    try CatalogTree.readNextID(of: entity, catalogTree, in: transaction.transaction)
  }
}
