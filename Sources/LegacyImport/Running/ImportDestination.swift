package import EntityStore

/// Where an import reads and writes: a store, or a store in the middle of a migration. Calls block.
package protocol ImportDestination {
  var folder: String { get }
  func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R
  /// In a transaction of its own, which is durable when the call returns.
  func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R
}

/// A store, written to in turn with all its other writers.
package struct StoreDestination: ImportDestination {
  private let store: Store

  package init(_ store: Store) { self.store = store }

  package var folder: String { store.folder }

  package func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R { try store.read(body) }

  package func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
    try store.writeBlocking(author: "import", body)
  }
}
