import Dispatch
public import EntityModel
public import Foundation
package import LMDB
package import SystemSupport

/// A store: entities in LMDB tables with sorted secondary indexes.
///
/// Any number of threads and processes may read and write; readers never block and are never
/// blocked. A store is opened once per folder and process: opening the same folder again shares
/// the environment.
public final class Store: Sendable {
  /// The options for opening a store.
  public struct Options: Sendable {
    /// The address space for the data file. It takes no disk space until it is used.
    public var mapSize = 64 << 30
    /// True to open the store for reading only: nothing is created, and every write fails. Beside
    /// the data file, LMDB needs only the lock file, in which readers register; on a read-only file
    /// system it works without. While the store is observed, there is a socket in the folder
    /// `observers`, if it can be created.
    public var isReadOnly = false
    /// True to end the process with one line on stderr and exit code 65, instead of a signal, when
    /// a page turns out to be missing or damaged while it is read. For tools only, because signal
    /// handlers belong to the whole process.
    public var endsOnPageFaults = false
    /// The time that a write waits for another process's writer before it fails with `busy`.
    public var writerDeadline = Duration.seconds(10)
    /// The program's name and version, as the history of migrations stores it.
    public var program: String?
    /// The time that write transactions see.
    public var now: @Sendable () -> Date = { Date() }
    /// False to leave flushing to the operating system. Only for benchmarks: a power failure may
    /// then damage the store.
    public var flushesCommits = true
    /// True to compare each record that a read transaction reads, and the change history, with
    /// their seals. A read of damaged ones fails with `damaged`. Records of a store without seals
    /// are not compared (see `StoreReport.notes`).
    public var verifiesReads = false
    /// The longest time for which the chunks of a sync, a batch, an import or a migration share a
    /// commit. A kill or a loss of power loses at most the work of this time, and readers see it
    /// after the commit. Zero for a commit after each chunk. Another writer never waits for more
    /// than the chunk under way and its commit.
    public var commitDuration = StoreLimits.commitDuration
    /// Measures the fetches of this store; nil for no measurement, which costs a fetch nothing.
    public var fetchObserver: FetchObserver?
    /// The timer by which observers find commits without a notification. The first store that is
    /// opened on a folder decides.
    package var pollTimer = PollTimer.everyTwoSeconds
    /// The order of the commits, if other machines have this store, too. The first store that is
    /// opened on a folder decides.
    package var commitLog: (any CommitLog)?
    /// The locks that hold on all machines that have this store.
    package var sharedLocks: any SharedLocks = FolderLocks()
    /// The number of trees that the store may get while it is open, if that is many.
    package var treesMax = 0

    public init() {}
  }

  public let folder: String
  package let environment: Environment
  package let catalogTree: Tree
  package let catalogs: CatalogCache
  package let options: Options
  /// The policy that compares the store's migrations with those that this program knows.
  package let schemaPolicy: any SchemaPolicy
  package let fetchThreads = BoundedThreads(
    "mooring.fetch", threadsMax: StoreLimits.fetchThreadsMax)
  /// The commits of the store, for those who wait for them.
  package let commits: StoreCommits
  let writer: WriterQueue

  /// Opens the store in a folder, independent of the migrations that have been applied to it.
  ///
  /// - Parameter policy: Decides whether the program may read the store now, and whether it may
  ///   write to it in each transaction.
  /// - Parameter creates: Creates a store without a schema if there is none.
  /// - Throws: `storeMissing`, `notAStore`, `newerFormat`, `newerSchema`, a storage failure.
  package init(
    folder: String, policy: any SchemaPolicy, creates: Bool, options: Options
  ) throws {
    self.folder = folder
    self.options = options
    let creates = creates && !options.isReadOnly
    schemaPolicy = policy
    var opening = Environment.Options()
    opening.mapSize = options.mapSize
    opening.createIfMissing = creates
    opening.access = options.isReadOnly ? .readOnly : .readWrite
    opening.guardsFaults = options.endsOnPageFaults
    opening.writerDeadline = options.writerDeadline
    opening.flushesCommits = options.flushesCommits
    opening.treesMax = max(opening.treesMax, options.treesMax)
    opening.commitLog = options.commitLog
    environment = try Environment.open(at: folder, options: opening)
    try Store.catchUpIfReachable(environment)
    catalogTree = try Store.catalogTree(in: environment, creates: creates)
    catalogs = CatalogCache(
      environment: environment, tree: catalogTree, fetchObserver: options.fetchObserver)
    try catalogs.refresh()
    let signal = CommitSignals.signal(of: environment, timer: options.pollTimer)
    commits = StoreCommits(signal: signal, lifetime: StoreLifetime())
    writer = WriterQueue(
      environment: environment, catalogTree: catalogTree, catalogs: catalogs, signal: signal,
      now: options.now, commitDuration: options.commitDuration
    ) { catalog in
      try catalog.checkWritable()
      try policy.checkWritable(catalog, in: folder)
      try catalog.checkCollations()
    }
    try policy.checkReadable(catalog())
  }

  /// Applies what other machines have committed, and what this one has committed before it ended.
  /// Without a usable log, or without room, the store is as it was, and can be read.
  private static func catchUpIfReachable(_ environment: Environment) throws {
    guard environment.options.access == .readWrite else { return }
    do {
      try environment.writerQueue.sync { _ = try environment.catchUp() }
    } catch let error as StorageError {
      switch error.code {
      case .unreachable, .busy, .permission, .needsCommitLog, .diskFull: break
      default: throw error
      }
    }
  }

  /// Returns the catalog's tree; creates it with a header if the environment is empty.
  private static func catalogTree(in environment: Environment, creates: Bool) throws -> Tree {
    let name = CatalogTree.name
    if let tree = try environment.read({ try environment.tree(named: name, in: $0) }) {
      return tree
    }
    guard creates else {
      throw StoreError(
        .notAStore, "the folder holds no Mooring store", [("folder", environment.folder)],
        advice: "create one with `mooring migrate up` or `mooring sync`")
    }
    return try environment.writerQueue.sync {
      try environment.write { try makeCatalog(named: name, in: $0, of: environment) }
    }
  }

  private static func makeCatalog(
    named name: String, in transaction: TreeWriter, of environment: Environment
  ) throws -> Tree {
    if let tree = try environment.tree(named: name, in: transaction) { return tree }
    guard try environment.treeNames(in: transaction).isEmpty else {
      throw StoreError(
        .notAStore, "the folder holds another program's LMDB data",
        [("folder", environment.folder)], advice: "choose another folder")
    }
    let tree = try environment.createTree(named: name, in: transaction)
    var header = CatalogHeader(uuid: UUID(), revision: 1)
    header.readCompatibleFeatures = CatalogHeader.sealFeature
    try transaction.put(tree, key: CatalogTree.headerKey, value: header.encoded())
    var schema = Schema()
    schema.sealedHistorySince = 1
    try transaction.put(
      tree, key: CatalogTree.schemaKey, value: try CatalogTree.encode(schema))
    try CatalogSeal.write(tree, in: transaction)
    return tree
  }

  /// Closes this store for all threads that use it.
  ///
  /// Reads that are running, and writes that were called before, are completed. Every observation
  /// ends, and every later call fails with `closed`. The files are closed when the last reference
  /// to the store and to the objects that it has returned is released; another `Store` on the same
  /// folder stays open. Closing a closed store does nothing.
  public func close() {
    commits.lifetime.close()
    commits.signal.end(commits.lifetime)
  }

  /// Runs a closure on one consistent snapshot.
  ///
  /// Never blocks and is never blocked by writers. `readAsynchronously` is the variant that leaves
  /// the calling thread free while pages are read from the disk. The closure must not keep the
  /// transaction, and should not take long: while it runs, pages that newer commits replace are not
  /// reused.
  ///
  /// - Throws: The closure's error; `closed`; `readersFull`, `inputOutput` or another storage
  ///   failure, also one that happens within the closure.
  // Inlinable, so that the compiler knows the type of the result where the result is created.
  @inlinable
  public func read<R>(_ body: (ReadTransaction) throws -> R) throws -> R {
    var result: R?
    try withSnapshot { result = try body($0) }
    guard let result else { preconditionFailure("a snapshot runs its closure or throws") }
    return result
  }

  @usableFromInline
  func withSnapshot(_ body: (ReadTransaction) throws -> Void) throws {
    try commits.lifetime.checkOpen()
    try translatingStorageErrors {
      while true {
        let isDone = try environment.read { transaction in
          guard let catalog = try catalogs.catalog(for: transaction) else { return false }
          let snapshot = ReadTransaction(transaction, catalog: catalog)
          snapshot.verifiesReads = options.verifiesReads
          try body(snapshot)
          return true
        }
        if isDone { return }
        // The cached catalog has another revision.
        try catalogs.refresh()
      }
    }
  }

  /// Runs a closure in a write transaction and returns after its durable commit.
  ///
  /// `writeBlocking` is the variant for a thread that may block.
  ///
  /// The closure is synchronous: nothing can be awaited between begin and commit. It runs on the
  /// store's writer queue, maybe together with other writes in one commit. If another process has
  /// changed the schema since the last transaction, the closure runs once, on the new schema.
  ///
  /// - Parameter author: The name of the writer, stored in the history.
  /// - Throws: The closure's error; `needsMigration`, `newerSchema`; `closed`; `readOnly`; `busy`
  ///   after `Options.writerDeadline`; `diskFull`, `mapFull`, `inputOutput` or another storage
  ///   failure, also one that happens within the closure. Nothing was written then.
  @discardableResult
  public func write<R: Sendable>(
    author: String? = nil, _ body: @escaping @Sendable (WriteTransaction) throws -> R
  ) async throws -> R {
    try await write(author: author, isRepeatable: false, body)
  }

  /// Runs a small write, as one of many at the same time, and returns after its durable commit.
  ///
  /// - Parameter isRepeatable: True if the closure may be run again. It then shares a transaction,
  ///   and an entry of the history, with neighboring writes of the same author; if one of them
  ///   throws, each of them is run again in a transaction of its own.
  package func write<R: Sendable>(
    author: String?, isRepeatable: Bool,
    _ body: @escaping @Sendable (WriteTransaction) throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      let box = ResultBox<R>()
      write(author: author, isRepeatable: isRepeatable) { transaction in
        box.value = try body(transaction)
      } completion: { result in
        // Not `resume(with:)`: its copy of the value would outlive the call on this thread.
        switch result {
        case .success: continuation.resume(returning: box.take())
        case .failure(let error): continuation.resume(throwing: error)
        }
      }
    }
  }

  /// Enqueues a write and returns without waiting for it.
  ///
  /// - Parameter completion: Called once: after the commit on the store's writer queue, or
  ///   immediately if the store is closed.
  package func write(
    author: String? = nil, isRepeatable: Bool = false,
    _ body: @escaping @Sendable (WriteTransaction) throws -> Void,
    completion: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    do {
      try checkOpenForWriting()
    } catch {
      return completion(.failure(error))
    }
    writer.submit(
      WriterQueue.Job(
        author: author, isRepeatable: isRepeatable, body: body, completion: completion))
  }

  /// Runs a closure in a write transaction, as `write` does, and blocks the calling thread until
  /// its durable commit.
  ///
  /// If no other write waits, the closure runs on the calling thread, which also commits: no other
  /// thread is woken. Otherwise the closure may run on another thread.
  ///
  /// For programs without concurrency and for threads of their own. An asynchronous function must
  /// await `write` instead, because a blocked thread of the concurrency runtime can run no other
  /// task. Never call it from the closure of a write of the same store, which would wait for itself
  /// forever, nor from that of a read, whose snapshot would stay pinned during the wait.
  ///
  /// - Parameter author: The name of the writer, stored in the history.
  /// - Throws: The errors of `write`; nothing was written then.
  @discardableResult
  public func writeBlocking<R>(
    author: String? = nil, _ body: (WriteTransaction) throws -> R
  ) throws -> R {
    try checkOpenForWriting()
    return try withoutActuallyEscaping(body) { body in
      // The writer may hold its job for a moment after the end; it must not hold the body then.
      let call = BlockingCall<R>(body)
      writer.submitBlocking(
        WriterQueue.Job(author: author) { transaction in
          try call.run(in: transaction)
        } completion: { result in
          call.end(result)
        })
      return try call.wait()
    }
  }

  /// Adds a commit hook.
  ///
  /// - Returns: A closure that removes the hook. A commit that has called `begin` still calls
  ///   `publish`.
  package func add(_ hook: some CommitHook) -> @Sendable () -> Void { writer.add(hook) }

  /// Returns the time that this store's transactions see.
  package func now() -> Date { options.now() }

  /// The current schema.
  public var schema: Schema { get throws { try catalog().schema } }

  /// The identity of this store, part of every reference to its objects.
  public var id: UUID { get throws { try catalog().uuid } }

  /// Runs a closure that changes the schema, in a commit of its own. Blocks the calling thread.
  package func runAlone<R>(_ body: (TreeWriter) throws -> R) throws -> R {
    try runAlone { transaction, _ in try body(transaction) }
  }

  package func runAlone<R>(_ body: (TreeWriter, WriterScratch) throws -> R) throws -> R {
    try checkOpenForWriting()
    return try writer.runAlone(body)
  }

  /// Throws if the store is closed or was opened for reading only. The environment alone would not
  /// refuse: it may be that of another `Store` of this process, opened for writing.
  func checkOpenForWriting() throws {
    try commits.lifetime.checkOpen()
    guard options.isReadOnly else { return }
    throw StoreError(
      .readOnly, "the store is open for reading only", [("path", folder)],
      advice: "open it for writing")
  }

  package func catalog() throws -> Catalog {
    try read { $0.catalog }
  }
}

/// Carries a result from the writer queue to the continuation that it resumes.
private final class ResultBox<R: Sendable>: @unchecked Sendable {
  // SAFETY: written by the job's body and taken by its completion, both on the writer queue, in
  // this order.
  var value: R?

  func take() -> R {
    guard let value else { preconditionFailure("a write that succeeded has a result") }
    return value
  }
}

/// A write whose caller waits for its end.
///
/// SAFETY: the thread that drains the writer queue alone touches it until `end`, and the caller's
/// alone after that, which the semaphore orders; they may be one thread.
private final class BlockingCall<R>: @unchecked Sendable {
  private var body: ((WriteTransaction) throws -> R)?
  private var value: R?
  private var failure: (any Error)?
  private let done = DispatchSemaphore(value: 0)

  init(_ body: @escaping (WriteTransaction) throws -> R) { self.body = body }

  func run(in transaction: WriteTransaction) throws { value = try body?(transaction) }

  func end(_ result: Result<Void, any Error>) {
    if case .failure(let error) = result { failure = error }
    body = nil
    done.signal()
  }

  func wait() throws -> R {
    done.wait()
    if let failure { throw failure }
    guard let value else { preconditionFailure("a write that succeeded has a result") }
    return value
  }
}
