import EntityModel
import Glibc
import LMDB
import UnicodeText

/// The sizes of a store.
public struct StoreStatistics: Hashable, Sendable {
  public let fileBytes: Int
  /// The size of the address space in bytes: how large the file may grow.
  public let mapBytes: Int
  /// The size of a page in bytes.
  public let pageSize: Int
  /// The number of pages up to the last one ever used, including the free ones.
  public let pagesUsed: Int
  /// The number of free pages, which the next writes use before the file grows.
  public let pagesFree: Int
  public let lastTransaction: Int
  /// The slots of the reader table in use by all processes, including idle ones.
  public let readersInUse: Int
  public let readersMax: Int
  /// The free list and the tree of names, then the named trees in byte order of their names.
  public let trees: [StoredTree]
}

/// One tree of the file, and its purpose.
public struct StoredTree: Hashable, Sendable {
  /// The content of a tree.
  public enum Content: Hashable, Sendable {
    /// The list of pages to use again.
    case freeList
    /// The names of the other trees.
    case names
    case catalog
    /// The change history; see `HistoryTransaction`.
    case history
    case records(entity: String)
    case index(entity: String, name: String)
    /// A tree that a running migration builds for an entity.
    case build(entity: String)
    /// A tree that the catalog does not name: left over from a dropped index, or of another
    /// program.
    case orphan
  }

  public let name: String
  public let content: Content
  public let entries: Int
  public let depth: Int
  public let pages: Int
  /// The total size of its pages in bytes.
  public let bytes: Int
}

extension Store {
  /// Returns the sizes of the file and of each tree; those of the trees are of one snapshot.
  ///
  /// - Throws: A storage failure.
  /// - Complexity: O(number of trees + entries of the free list); no record is read.
  public func statistics() throws -> StoreStatistics {
    try read { try statistics(in: $0) }
  }

  /// Returns the sizes in a snapshot.
  package func statistics(in transaction: ReadTransaction) throws -> StoreStatistics {
    try translatingStorageErrors {
      let information = try environment.information()
      let contents = transaction.catalog.treeContents
      let trees = try environment.allStatistics(in: transaction.transaction).map { found in
        StoredTree(
          name: found.name, content: contents[found.name] ?? .orphan,
          entries: found.statistics.entries, depth: found.statistics.depth,
          pages: found.statistics.pages, bytes: found.statistics.bytes)
      }
      return StoreStatistics(
        fileBytes: information.fileBytes, mapBytes: information.mapSize,
        pageSize: information.pageSize, pagesUsed: information.pagesUsed,
        pagesFree: try environment.freePages(in: transaction.transaction),
        lastTransaction: information.lastTransactionID, readersInUse: information.readersInUse,
        readersMax: information.readersMax, trees: trees)
    }
  }
}

/// A process that reads a snapshot of a store.
public struct StoreReader: Hashable, Sendable {
  public let process: Int32
  /// The number of the last transaction in its snapshot. The file grows rather than use pages again
  /// that were freed after it.
  public let transaction: Int
}

extension Store {
  /// Returns the processes that read a snapshot now, the one with the oldest snapshot first. The
  /// snapshots of this process are left out.
  ///
  /// - Throws: A storage failure.
  public func readers() throws -> [StoreReader] {
    let own = getpid()
    return try translatingStorageErrors { try environment.readerSlots() }.compactMap { reader in
      guard reader.process != own, let transaction = reader.transactionID else { return nil }
      return StoreReader(process: reader.process, transaction: transaction)
    }.sorted { ($0.transaction, $0.process) < ($1.transaction, $1.process) }
  }
}

extension Catalog {
  fileprivate var treeContents: [String: StoredTree.Content] {
    var contents: [String: StoredTree.Content] = [
      "(free list)": .freeList, "(main)": .names, CatalogTree.name: .catalog,
      HistoryTree.name: .history,
    ]
    for entity in schema.entities {
      contents[EntityLayout.treeName(of: entity)] = .records(entity: entity.name)
      for index in entity.indexes {
        contents[EntityLayout.treeName(of: index)] = .index(entity: entity.name, name: index.name)
      }
      guard let build, build.entityID == entity.id else { continue }
      for name in build.treeNames { contents[name] = .build(entity: entity.name) }
    }
    return contents
  }
}

extension Store {
  /// The C libraries of every store, with their versions.
  package static var libraryVersions: [(String, String)] {
    [("LMDB", Environment.libraryVersion), ("ICU", ICU.libraryVersion)]
  }
}
