import CMooringLMDB
import Glibc

extension Environment {
  /// Frees the reader slots of processes that died. Opening does this too.
  ///
  /// - Returns: how many were freed.
  @discardableResult
  public func clearStaleReaders() throws -> Int {
    var dead: Int32 = 0
    let result = mdb_reader_check(raw, &dead)
    guard result == MDB_SUCCESS else { throw failure(result, doing: "checking readers") }
    return Int(dead)
  }

  public struct Information: Sendable, Hashable {
    /// Bytes.
    public let mapSize: Int
    public let lastTransactionID: Int
    /// Slots of the reader table in use, idle ones of the pool included.
    public let readersInUse: Int
    public let readersMax: Int
    /// Bytes.
    public let pageSize: Int
    public let fileBytes: Int
    /// Pages up to the last one ever used; some of them may be free.
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

  /// Bytes that the volume of the store has left for this user; `nil` if the system does not say.
  public var freeBytesOfVolume: Int? { StoreFiles.freeBytes(folder: folder) }

  /// The size and shape of every tree of the snapshot: first "(free list)" and "(main)", the tree
  /// of the others' names, then the named ones in byte order.
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
      guard let tree = try tree(named: name, in: transaction) else { continue }
      all.append((name, try transaction.statistics(tree)))
    }
    return all
  }

  /// The number of pages that the next writers can use before the file grows.
  ///
  /// - Parameter transaction: a snapshot: LMDB keeps its free list from writers.
  /// - Complexity: O(entries of the free list).
  public func freePages(in transaction: TreeTransaction) throws -> Int {
    var cursor: OpaquePointer?
    // Tree 0 is the free list; LMDB opens it for read transactions.
    let opened = mdb_cursor_open(transaction.raw, 0, &cursor)
    guard opened == MDB_SUCCESS, let cursor else {
      throw failure(opened, doing: "reading the free list")
    }
    defer { mdb_cursor_close(cursor) }
    var total = 0
    var key = MDB_val()
    var value = MDB_val()
    var result = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
    while result == MDB_SUCCESS {
      // Each entry begins with its count.
      if value.mv_size >= 8 {
        // A count that the entry has no room for is damage, which `PageFile.verify` describes.
        total += min(
          Int(clamping: value.mv_data.loadUnaligned(as: UInt64.self)), value.mv_size / 8 - 1)
      }
      result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    guard result == MDB_NOTFOUND else { throw failure(result, doing: "reading the free list") }
    return total
  }
}
