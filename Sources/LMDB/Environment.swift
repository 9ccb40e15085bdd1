import CMooringLMDB
public import Dispatch
import Glibc
import Synchronization
import SystemSupport

/// An open store: one folder with `data.mdb`, one map of it, many readers, one writer at a time.
///
/// A process opens a folder once. LMDB forbids a second open, because closing either drops the
/// `fcntl` locks of both; so `open` returns the same object while one is alive.
///
/// Threads: every method may be called from any thread. The writers of one process are serialised
/// by the caller; those of several processes take turns (see `WriterLock`).
// @unchecked: `raw` is an MDB_env, which LMDB makes safe for threads; all other state is
// immutable, atomic or behind a lock.
public final class Environment: @unchecked Sendable {
  public enum Access: Sendable { case readWrite, readOnly }

  public struct Options: Sendable {
    /// Bytes of address space, and so the largest size of the store. The file is as large as
    /// its data. The map never moves while the environment is open.
    public var mapSize = 64 << 30
    public var treesMax = 512
    /// Slots of the reader table; the first process that opens the store decides.
    public var readersMax = 512
    public var access = Access.readWrite
    /// Makes the folder, its parents and the store if they are missing.
    public var createIfMissing = false
    /// How long `write` waits for another process.
    public var writerDeadline = Duration.seconds(10)
    /// `false` leaves commits in the page cache (MDB_NOSYNC): a power cut may then damage the
    /// store. For benchmarks only.
    public var flushesCommits = true
    /// Installs `FaultGuard` as soon as the file is mapped, before any page is read.
    public var guardsFaults = false

    public init(
      mapSize: Int = 64 << 30, treesMax: Int = 512, readersMax: Int = 512,
      access: Access = .readWrite, createIfMissing: Bool = false,
      writerDeadline: Duration = .seconds(10), flushesCommits: Bool = true
    ) {
      self.mapSize = mapSize
      self.treesMax = treesMax
      self.readersMax = readersMax
      self.access = access
      self.createIfMissing = createIfMissing
      self.writerDeadline = writerDeadline
      self.flushesCommits = flushesCommits
    }
  }

  /// The folder as it was named at the first open.
  public let folder: String
  public let options: Options
  /// Where the writes of this process take turns: `write` is called on this queue, or by somebody
  /// who knows that there is no other writer.
  public let writerQueue = DispatchQueue(label: "mooring.writer")

  let raw: OpaquePointer
  /// Null if the environment is read-only.
  let writerLock: WriterLock?
  let readers = ReaderPool()
  let trees = TreeHandles()
  let readAhead = MapReadAhead()
  let entry: OpenEnvironments.Entry
  /// The place in the table of `FaultGuard`, or -1.
  let faultGuardPlace = Atomic<Int32>(-1)
  private let isWriting = Atomic<Bool>(false)

  init(
    raw: OpaquePointer, folder: String, options: Options, writerLock: WriterLock?,
    entry: OpenEnvironments.Entry
  ) {
    self.raw = raw
    self.folder = folder
    self.options = options
    self.writerLock = writerLock
    self.entry = entry
  }

  deinit {
    // SAFETY: every transaction holds a reference to its environment, so none is open here but
    // the idle ones of the pool, which are aborted first, as mdb_env_close demands.
    readers.abortAll()
    FaultGuard.remove(self)
    mdb_env_close(raw)
    OpenEnvironments.remove(entry)
  }

  // MARK: Reading

  /// Runs `body` on a snapshot: it sees the last commit before it began, whatever is written
  /// meanwhile. Never waits for a writer.
  ///
  /// - Throws: what `body` throws; `StorageError` with `.readersFull`.
  public func read<R>(_ body: (TreeReader) throws -> R) throws -> R {
    let transaction = try beginRead()
    defer { endRead(transaction) }
    return try body(transaction)
  }

  /// Begins a snapshot that outlives a scope. It keeps the pages of its snapshot from being used
  /// again, so that a store with a forgotten one grows. It may move between threads, one at a
  /// time.
  ///
  /// - Throws: `StorageError` with `.readersFull`.
  public func beginRead() throws -> TreeReader {
    var handle = try readers.takeOrBegin(in: self)
    while true {
      // The order matters: what was verified *before* the snapshot began is visible in it.
      let verified = trees.verifiedTransaction.load(ordering: .acquiring)
      let result = mdb_txn_renew(handle)
      guard result == MDB_SUCCESS else {
        mdb_txn_abort(handle)
        throw failure(result, doing: "begin of a read transaction")
      }
      if mdb_txn_id(handle) == verified { break }
      if try trees.allVisible(in: handle, environment: self) { break }
      mdb_txn_reset(handle)
      readers.put(handle)
      try trees.openMissing(in: self)
      handle = try readers.takeOrBegin(in: self)
    }
    return TreeReader(environment: self, raw: handle)
  }

  /// Ends a snapshot; its pointers are void from here on.
  public func endRead(_ transaction: TreeReader) {
    precondition(transaction.environment === self, "a transaction of another environment")
    let handle = transaction.end()
    mdb_txn_reset(handle)
    readers.put(handle)
  }

  /// The id of the newest commit, of whatever process, that a snapshot begun now would see.
  ///
  /// It is asked of a snapshot, because the meta page, which `mdb_env_info` reads, names a commit
  /// already while its writer still waits for the device; a reader would not find it yet.
  ///
  /// - Throws: `StorageError` with `.readersFull`.
  public var lastCommit: Int {
    get throws { try read { $0.id } }
  }

  /// Runs `body`, which reads much of what lies side by side, with read-ahead by the kernel: what
  /// is not in memory is read page by page otherwise. A cursor that goes far does so by itself.
  public func readingAhead<R>(_ body: () throws -> R) rethrows -> R {
    readAhead.begin(in: self)
    defer { readAhead.end() }
    return try body()
  }

  // MARK: Writing

  /// Runs `body` in a write transaction, and commits: when this returns, the changes are on the
  /// device. If `body` throws, or the commit fails, nothing of it is in the store.
  ///
  /// The caller serialises the writers of its process (a second `write` at the same time traps);
  /// this method makes the processes take turns.
  ///
  /// - Throws: what `body` throws; `StorageError` with `.busy` after `Options.writerDeadline`, with
  ///   `.diskFull`, `.inputOutput` or `.mapFull` from the commit, with `.permission` if the
  ///   environment is read-only.
  public func write<R>(_ body: (TreeWriter) throws -> R) throws -> R {
    guard let writerLock else { throw readOnlyError }
    precondition(
      !isWriting.exchange(true, ordering: .acquiring),
      "two writes at once: the caller serialises the writers of a process")
    defer { isWriting.store(false, ordering: .releasing) }
    try writerLock.acquire(within: options.writerDeadline)
    defer { writerLock.release() }
    return try trees.whileOpeningIsBlocked(in: self) { try writeHoldingLock(body) }
  }

  private func writeHoldingLock<R>(_ body: (TreeWriter) throws -> R) throws -> R {
    var handle: OpaquePointer?
    let begun = mdb_txn_begin(raw, nil, 0, &handle)
    guard begun == MDB_SUCCESS, let handle else {
      throw failure(begun, doing: "begin of a write transaction")
    }
    let transaction = TreeWriter(environment: self, raw: handle, parent: nil)
    let value: R
    do {
      value = try body(transaction)
    } catch {
      mdb_txn_abort(transaction.end())
      throw error
    }
    let committed = mdb_txn_commit(transaction.end())
    guard committed == MDB_SUCCESS else {
      throw transaction.firstFailure ?? failure(committed, doing: "commit")
    }
    trees.adopt(transaction.createdTrees)
    trees.removeEmptied(transaction.droppedTrees, in: self)
    trees.markVerified(lastTransactionID)
    return value
  }

  /// Whether another process waits for the writer lock that this process holds. `false` if this
  /// process does not hold it.
  ///
  /// - Complexity: two system calls.
  public var anotherProcessWaits: Bool { writerLock?.anotherProcessWaits ?? false }

  // MARK: Errors

  private var readOnlyError: StorageError {
    StorageError(
      .permission, "the store is open for reading only", context: [("path", folder)],
      advice: "open it for writing")
  }

  /// The id of the last commit; of one of another process maybe before a snapshot sees it.
  var lastTransactionID: Int {
    var information = MDB_envinfo()
    mdb_env_info(raw, &information)
    return Int(information.me_last_txnid)
  }

  func failure(_ result: Int32, doing: StaticString) -> StorageError {
    // LMDB turns the short write of a full device into EIO, so ask the device itself.
    if result == EIO, let room = StoreFiles.exhaustedRoom(folder: folder) {
      return .lmdb(ENOSPC, doing: doing, context: [("path", folder), room])
    }
    if result == ENOSPC || result == EDQUOT || result == EFBIG {
      let room = StoreFiles.freeBytes(folder: folder).map { [("free bytes", String($0))] } ?? []
      return .lmdb(result, doing: doing, context: [("path", folder)] + room)
    }
    return .lmdb(result, doing: doing, context: [("path", folder)])
  }
}
