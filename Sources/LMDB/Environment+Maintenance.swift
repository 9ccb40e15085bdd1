import CMooringLMDB
import Glibc
import SystemSupport

extension Environment {
  /// Frees the reader slots of processes that have died. Opening a store does this, too.
  ///
  /// - Returns: the number of slots that were freed.
  @discardableResult
  public func clearStaleReaders() throws -> Int {
    var dead: Int32 = 0
    let result = mdb_reader_check(raw, &dead)
    guard result == MDB_SUCCESS else { throw failure(result, doing: "checking readers") }
    return Int(dead)
  }

  /// The size of an environment and its readers.
  public struct Information: Sendable, Hashable {
    /// The size of the map in bytes.
    public let mapSize: Int
    public let lastTransactionID: Int
    /// The slots of the reader table that are in use, including idle ones of the pool.
    public let readersInUse: Int
    public let readersMax: Int
    /// The size of a page in bytes.
    public let pageSize: Int
    public let fileBytes: Int
    /// The number of pages up to the last one that was ever used; some of them may be free.
    public let pagesUsed: Int
  }

  /// - Complexity: O(1) and one system call.
  public func information() throws -> Information {
    var information = MDB_envinfo()
    var statistics = MDB_stat()
    mdb_env_info(raw, &information)
    mdb_env_stat(raw, &statistics)
    var status = stat()
    guard stat(StoreFiles.dataFile(folder), &status) == 0 else {
      throw failure(errno, doing: "reading the size of the data file")
    }
    return Information(
      mapSize: Int(information.me_mapsize), lastTransactionID: Int(information.me_last_txnid),
      readersInUse: Int(information.me_numreaders), readersMax: Int(information.me_maxreaders),
      pageSize: Int(statistics.ms_psize), fileBytes: Int(status.st_size),
      pagesUsed: Int(information.me_last_pgno) + 1)
  }

  /// The free bytes of the store's volume for this user; `nil` if the system does not report them.
  public var freeBytesOfVolume: Int? { StoreFiles.freeBytes(folder: folder) }

  /// The size and shape of every tree of the snapshot: first "(free list)" and "(main)", the tree
  /// with the names of the others, then the named trees in byte order.
  ///
  /// - Complexity: O(number of trees).
  public func allStatistics(
    in transaction: TreeTransaction
  ) throws -> [(name: String, statistics: TreeStatistics)] {
    var all = [
      (name: "(free list)", statistics: try transaction.statistics(ofHandle: 0)),
      (name: "(main)", statistics: try transaction.statistics(ofHandle: TreeHandles.main)),
    ]
    for name in try treeNames(in: transaction) {
      try findingDamage {
        guard let tree = try tree(named: name, in: transaction) else { return }
        all.append((name, try transaction.statistics(tree)))
      }
    }
    return all
  }

  /// Reports as damage that LMDB refuses an operation: reading the statistics of a tree whose root
  /// is damaged succeeds, and makes the transaction unusable.
  private func findingDamage(_ body: () throws -> Void) throws {
    do {
      try body()
    } catch let error as StorageError where error.code == .programming {
      throw failure(MDB_CORRUPTED, doing: "reading statistics")
    }
  }

  /// The number of pages that the next write transactions can use before the file grows.
  ///
  /// - Parameter transaction: a snapshot, because LMDB does not show its free list to a writer.
  /// - Complexity: O(entries of the free list).
  public func freePages(in transaction: TreeTransaction) throws -> Int {
    var total = 0
    // Tree 0 is the free list; LMDB opens it for read transactions.
    try findingDamage {
      try forEachEntry(of: 0, in: transaction.raw, doing: "reading the free list") { _, value in
        // Each entry begins with the number of its pages.
        if value.count >= 8 {
          // A number that is too large for the entry is damage, which `PageFile.verify` reports.
          total += min(Int(clamping: value.loadUnaligned(as: UInt64.self)), value.count / 8 - 1)
        }
        return true
      }
    }
    return total
  }
}

extension Environment {
  /// The version of LMDB: `0.9.24`.
  package static var libraryVersion: String {
    var (major, minor, patch): (Int32, Int32, Int32) = (0, 0, 0)
    // SAFETY: the three numbers outlive the call; the returned text is a constant.
    _ = mdb_version(&major, &minor, &patch)
    return "\(major).\(minor).\(patch)"
  }
}
