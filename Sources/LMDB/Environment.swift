import CMooringLMDB
public import Dispatch
import Glibc
import Synchronization
import SystemSupport

/// An open store: one folder with `data.mdb`, one map of it, many readers, one writer at a time.
///
/// A process opens a folder once. LMDB forbids a second open, because closing either one drops the
/// `fcntl` locks of both; so `open` returns the same object while one is alive.
///
/// Threads: every method may be called from any thread. The caller serializes the writers of its
/// process; the writers of several processes take turns (see `WriterLock`).
// @unchecked: `raw` is an MDB_env, which LMDB makes safe for threads; all other state is immutable,
// atomic or protected by a lock.
public final class Environment: @unchecked Sendable {
  /// The access that an environment is opened for.
  public enum Access: Sendable { case readWrite, readOnly }

  /// The options of an environment.
  public struct Options: Sendable {
    /// The address space in bytes, and so the largest size of the store. The file is only as large
    /// as its data. The map never moves while the environment is open.
    public var mapSize = 64 << 30
    /// The number of trees that can be open. LMDB reserves memory for them in each transaction. If
    /// the store has nearly as many when it is opened, it can have 256 more than it has.
    public var treesMax = 512
    /// The number of slots of the reader table; the first process that opens the store determines
    /// it.
    public var readersMax = 512
    public var access = Access.readWrite
    /// Creates the folder, its parents and the store if they are missing.
    public var createIfMissing = false
    /// The longest wait of `write` for another process.
    public var writerDeadline = Duration.seconds(10)
    /// `false` leaves commits in the page cache (MDB_NOSYNC): a power failure may then damage the
    /// store. For benchmarks only.
    public var flushesCommits = true
    /// The order of the commits, if other machines have this store, too.
    public var commitLog: (any CommitLog)?
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

  /// The path of the folder, as given at the first open.
  public let folder: String
  public let options: Options
  /// The queue on which the writes of this process take turns. `write` is called on this queue, or
  /// where the caller ensures that there is no other writer.
  public let writerQueue = DispatchQueue(label: "mooring.writer")
  /// The number of writes of this process that run or wait on `writerQueue`.
  private let waitingWrites = Atomic<Int>(0)

  let raw: OpaquePointer
  /// The writer lock; null if the environment is read-only.
  let writerLock: WriterLock?
  let readers = ReaderPool()
  let trees = TreeHandles()
  let readAhead = MapReadAhead()
  let prefetch = PagePrefetch()
  let entry: OpenEnvironments.Entry
  /// The index in the table of `FaultGuard`, or -1.
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
    // SAFETY: every transaction holds a reference to its environment, so only idle ones of the pool
    // are still open here. They are aborted first, as mdb_env_close requires.
    readers.abortAll()
    mdb_env_close(raw)
    FaultGuard.remove(self)
    OpenEnvironments.remove(entry)
  }

  // MARK: Reading

  /// Runs `body` on a snapshot: it sees the last commit before it began, and nothing that is
  /// written later. It never waits for a writer.
  ///
  /// - Throws: the errors of `body`; `StorageError` with `.readersFull`.
  public func read<R>(_ body: (TreeReader) throws -> R) throws -> R {
    let transaction = try beginRead()
    defer { endRead(transaction) }
    return try body(transaction)
  }

  /// Begins a snapshot that outlives a scope. Its pages cannot be used again until it ends, so that
  /// a store with a forgotten snapshot grows. The snapshot may move between threads, but only one
  /// thread may use it at a time.
  ///
  /// - Throws: `StorageError` with `.readersFull`.
  public func beginRead() throws -> TreeReader {
    var handle = try readers.takeOrBegin(in: self)
    while true {
      // The order matters: a tree that was verified *before* the snapshot began is visible in it.
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

  /// Ends a snapshot. Its pointers are invalid from here on.
  public func endRead(_ transaction: TreeReader) {
    precondition(transaction.environment === self, "a transaction of another environment")
    let handle = transaction.end()
    mdb_txn_reset(handle)
    readers.put(handle)
  }

  /// The id of the newest commit, of any process, that a snapshot begun now would see.
  ///
  /// It is read from a snapshot. The meta page, which `mdb_env_info` reads, already names a commit
  /// while its writer still waits for the device; a reader would not see that commit yet.
  ///
  /// - Throws: `StorageError` with `.readersFull`.
  public var lastCommit: Int {
    get throws { try read { $0.id } }
  }

  /// Runs `body`, which reads many adjacent pages, with read-ahead by the kernel. Otherwise pages
  /// that are not in memory are read one by one. A cursor that moves far turns read-ahead on by
  /// itself.
  public func readingAhead<R>(_ body: () throws -> R) rethrows -> R {
    readAhead.begin(in: self)
    defer { readAhead.end() }
    return try body()
  }

  // MARK: Writing

  /// The number of writes of this process that run or wait on `writerQueue`, as their callers count
  /// them by ``countWrites(_:)``.
  public var writesWaiting: Int { waitingWrites.load(ordering: .relaxed) }

  /// Changes the number of writes that run or wait.
  public func countWrites(_ change: Int) { waitingWrites.add(change, ordering: .relaxed) }

  /// Runs `body` in a write transaction and commits it. When this returns, the changes are on the
  /// device. If `body` throws or the commit fails, none of the changes is in the store.
  ///
  /// The caller serializes the writers of its process (a second `write` at the same time traps);
  /// this method makes the processes take turns.
  ///
  /// - Throws: the errors of `body`; `StorageError` with `.busy` after `Options.writerDeadline`,
  ///   with
  ///   `.diskFull`, `.inputOutput` or `.mapFull` from the commit, with `.readOnly` if the
  ///   environment is read-only, with `.needsCommitLog` if its commits are ordered by a log that
  ///   the options do not have. With a log also `.unreachable`, `.diverged`, and:
  ///   `.notHereYet` if the log has the changes and the store does not have them yet,
  ///   `.unknownOutcome` if it is not known whether the log has them.
  public func write<R>(_ body: (TreeWriter) throws -> R) throws -> R {
    try asOnlyWriter { writerLock in
      if let log = options.commitLog { return try write(in: log, writerLock, body) }
      try writerLock.acquire(within: options.writerDeadline)
      defer { writerLock.release() }
      return try preparedForWriting {
        try writeHoldingLock { transaction in
          try checkHasNoLog(in: transaction)
          return try body(transaction)
        }
      }
    }
  }

  /// Runs the one write of this process.
  func asOnlyWriter<R>(_ body: (WriterLock) throws -> R) throws -> R {
    guard let writerLock else { throw readOnlyError }
    precondition(
      !isWriting.exchange(true, ordering: .acquiring),
      "two writes at once: the caller serialises the writers of a process")
    defer { isWriting.store(false, ordering: .releasing) }
    return try body(writerLock)
  }

  /// Runs what holds the writer lock.
  func preparedForWriting<R>(_ body: () throws -> R) throws -> R {
    FaultGuard.noteWrite(to: self)
    return try trees.whileOpeningIsBlocked(in: self, body)
  }

  func writeHoldingLock<R>(_ body: (TreeWriter) throws -> R) throws -> R {
    let transaction = try beginWrite()
    let value: R
    do {
      value = try body(transaction)
    } catch {
      mdb_txn_abort(transaction.end())
      throw error
    }
    let committed = commit(transaction)
    guard committed == MDB_SUCCESS else {
      throw transaction.firstFailure ?? failure(committed, doing: "commit")
    }
    return value
  }

  func beginWrite() throws -> TreeWriter {
    var handle: OpaquePointer?
    let begun = mdb_txn_begin(raw, nil, 0, &handle)
    guard begun == MDB_SUCCESS, let handle else {
      throw failure(begun, doing: "begin of a write transaction")
    }
    return TreeWriter(environment: self, raw: handle, parent: nil)
  }

  /// Commits a transaction as its `flush` says. The trees that it has created get their handles,
  /// and those that it has dropped lose their names.
  func commit(_ transaction: TreeWriter) -> Int32 {
    let result = flush(transaction)
    guard result == MDB_SUCCESS else { return result }
    trees.adopt(transaction.createdTrees)
    trees.removeEmptied(transaction.droppedTrees, in: self)
    trees.markVerified(lastTransactionID)
    return result
  }

  private func flush(_ transaction: TreeWriter) -> Int32 {
    guard transaction.flush == .pagesOnly else { return mdb_txn_commit(transaction.end()) }
    // LMDB 0.9 has this flag for the environment only, and this thread is the only writer.
    mdb_env_set_flags(raw, UInt32(MDB_NOMETASYNC), 1)
    defer { mdb_env_set_flags(raw, UInt32(MDB_NOMETASYNC), 0) }
    return mdb_txn_commit(transaction.end())
  }

  /// True if another process waits for the writer lock that this process holds; `false` if this
  /// process does not hold it.
  ///
  /// - Complexity: two system calls.
  public var anotherProcessWaits: Bool { writerLock?.anotherProcessWaits ?? false }

  // MARK: Errors

  private var readOnlyError: StorageError {
    StorageError(
      .readOnly, "the store is open for reading only", context: [("path", folder)],
      advice: "open it for writing")
  }

  /// The id of the last commit. A commit of another process may be counted before a snapshot sees
  /// it.
  var lastTransactionID: Int {
    var information = MDB_envinfo()
    mdb_env_info(raw, &information)
    return Int(information.me_last_txnid)
  }

  func failure(_ result: Int32, doing: StaticString) -> StorageError {
    // LMDB reports the short write of a full device as EIO, so the device is checked.
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
