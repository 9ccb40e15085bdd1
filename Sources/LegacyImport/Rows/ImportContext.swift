package import EntityStore

/// The state that the parts of one run share.
struct ImportContext {
  let target: any ImportDestination
  let database: SourceDatabase
  let bound: BoundMapping
  let contents: CellContents
  /// The number of the `_Import` record.
  let source: Int64
  let run: Int64
  let duplicates: DuplicateKeys
  let isCancelled: @Sendable () -> Bool
  let progress: @Sendable (ImportProgress) -> Void

  /// Returns the greatest number of links that are lost with the rows of a damaged file.
  func lostLinks(of link: BoundLink) -> Int64 {
    let table: String =
      if case .join(let join, _, _, _) = link.source { join.name } else {
        bound.tables[link.table].table.name
      }
    return database.lostRows(of: table)?.atMost ?? 0
  }

  func checkCancellation() throws {
    if isCancelled() { throw CancellationError() }
  }
}

/// The store that an import reads and writes, or a store during a migration. Calls block.
package protocol ImportDestination {
  var folder: String { get }
  func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R
  /// Runs the body in a transaction that is durable when the call returns.
  func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R
}

/// A store that other writers use at the same time.
package struct StoreDestination: ImportDestination {
  let store: Store

  package var folder: String { store.folder }

  package func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R { try store.read(body) }

  package func write<R>(_ body: (WriteTransaction) throws -> R) throws -> R {
    try store.writeBlocking(author: "import", body)
  }
}
