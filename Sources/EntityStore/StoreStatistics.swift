import EntityModel
import LMDB

/// The sizes of a store.
public struct StoreStatistics: Hashable, Sendable {
  public let fileBytes: Int
  /// Address space: how large the file may grow.
  public let mapBytes: Int
  /// Bytes.
  public let pageSize: Int
  /// Pages up to the last one ever used, the free ones among them.
  public let pagesUsed: Int
  /// Pages that the next writes take before the file grows.
  public let pagesFree: Int
  public let lastTransaction: Int
  /// Slots of the reader table in use by all processes, idle ones included.
  public let readersInUse: Int
  public let readersMax: Int
  /// The free list and the tree of names, then the named trees in byte order of their names.
  public let trees: [StoredTree]
}

/// One tree of the file, and what it is for.
public struct StoredTree: Hashable, Sendable {
  public enum Content: Hashable, Sendable {
    /// Pages to use again.
    case freeList
    /// The names of the other trees.
    case names
    case catalog
    /// What was changed when; see `HistoryTransaction`.
    case history
    case records(entity: String)
    case index(entity: String, name: String)
    /// What a migration under way builds of an entity.
    case build(entity: String)
    /// Nothing in the catalog names it: what a dropped index has left, or another program's.
    case orphan
  }

  public let name: String
  public let content: Content
  public let entries: Int
  public let depth: Int
  public let pages: Int
  /// Of its pages.
  public let bytes: Int
}

extension Store {
  /// Sizes of the file and of each tree; those of the trees are of one snapshot.
  ///
  /// - Throws: `storage`.
  /// - Complexity: O(number of trees + entries of the free list); no record is read.
  public func statistics() throws -> StoreStatistics {
    try read { transaction in
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
  /// Bytes that are left for others than the administrator on the volume that holds the store;
  /// `nil` if the system does not tell.
  package var freeBytesOfVolume: Int? { environment.freeBytesOfVolume }
}
