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
  /// How a store is opened.
  public struct Options: Sendable {
    /// Address space, not disk space. See design D8.
    public var mapSize = 64 << 30
    /// Opens for reading only: nothing is created, and every write fails. What LMDB needs for it
    /// beside the data file is the lock file, in which readers announce themselves; on a
    /// read-only file system it goes without. While it is observed, a socket stands in the folder
    /// `observers`, if that can be made.
    public var isReadOnly = false
    /// For tools only, as signal handlers belong to the whole process: a page that turns out to
    /// be missing or damaged when it is read ends the process with one line on stderr and exit
    /// code 65, and not by a signal.
    public var endsOnPageFaults = false
    /// How long a write waits for another process's writer before it fails with `busy`.
    public var writerDeadline = Duration.seconds(10)
    /// The program's name and version, as the history of migrations keeps it.
    public var program: String?
    /// The time that write transactions see.
    public var now: @Sendable () -> Date = { Date() }
    /// `false` leaves commits to the system's own flushing: a benchmark's switch, for a power cut
    /// may then damage the store.
    public var flushesCommits = true
    /// What makes observers look for commits that no bell has announced. The first store that is
    /// opened on a folder decides.
    package var commitTicker = CommitTicker.everyTwoSeconds

    public init() {}
  }

  public let folder: String
  package let environment: Environment
  package let catalogTree: Tree
  package let catalogs: CatalogCache
  package let options: Options
  /// What this program knows of the migrations of a store.
  package let schemaPolicy: any SchemaPolicy
  package let fetchThreads = BoundedThreads("mooring.fetch", threadsMax: Limits.fetchThreadsMax)
  /// Wakes those who wait for a commit.
  package let commits: StoreCommits
  let writer: WriterQueue

  /// Holds Swift types against the catalog.
  ///
  /// - Throws: `schemaMismatch` that lists every difference.
  public func require(_ types: [any Entity.Type]) throws {
    try EntityCheck.check(types, against: try catalog().schema)
  }

  /// Opens the store in a folder, whatever migrations it has had.
  ///
  /// - Parameter policy: Decides whether the program may read the store now, and whether it may
  ///   write to it in each transaction.
  /// - Parameter creates: Creates a store without a schema if there is none.
  /// - Throws: `storeMissing`, `notAStore`, `newerFormat`, `newerSchema`, `storage`.
  package init(
    folder: String, policy: any SchemaPolicy, creates: Bool, options: Options
  ) throws {
    self.folder = folder
    self.options = options
    schemaPolicy = policy
    var opening = Environment.Options()
    opening.mapSize = options.mapSize
    opening.createIfMissing = creates
    opening.access = options.isReadOnly ? .readOnly : .readWrite
    opening.guardsFaults = options.endsOnPageFaults
    opening.writerDeadline = options.writerDeadline
    opening.flushesCommits = options.flushesCommits
    environment = try Environment.open(at: folder, options: opening)
    catalogTree = try Store.catalogTree(in: environment, creates: creates)
    catalogs = CatalogCache(environment: environment, tree: catalogTree)
    try catalogs.refresh()
    let signal = CommitSignals.signal(of: environment, ticker: options.commitTicker)
    commits = StoreCommits(signal: signal, lifetime: StoreLifetime())
    writer = WriterQueue(
      environment: environment, catalogTree: catalogTree, catalogs: catalogs, signal: signal,
      now: options.now
    ) { catalog in
      try catalog.checkWritable()
      try policy.checkWritable(catalog, in: folder)
      try catalog.checkCollations()
    }
    try policy.checkReadable(catalog())
  }

  /// The catalog's tree; made with a header if the environment is empty.
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
    let header = CatalogHeader(uuid: UUID(), revision: 1)
    try transaction.put(tree, key: CatalogTree.headerKey, value: header.encoded())
    return tree
  }

  /// Ends the use of this store, whichever threads use it now.
  ///
  /// Reads that run, and writes whose call has come before, go through to their end. Every
  /// observation ends, and every later call fails with `closed`. The files are closed when the last
  /// reference to the store, and to what it has given out, is released; another `Store` on the same
  /// folder stays open. Closing again does nothing.
  public func close() {
    commits.lifetime.close()
    commits.signal.end(commits.lifetime)
  }

  /// Runs a closure on one consistent snapshot.
  ///
  /// Never blocks and is never blocked by writers. The closure must not keep the transaction, and
  /// should not take long: while it runs, pages that newer commits replace are not reused.
  ///
  /// - Throws: What the closure throws; `closed`; `storage`.
  // Inlinable, so that the type of the result is known where the result is made.
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
          try body(ReadTransaction(transaction, catalog: catalog))
          return true
        }
        if isDone { return }
        // The cached catalog is of another revision.
        try catalogs.refresh()
      }
    }
  }

  /// Runs a closure in a write transaction and returns after its durable commit.
  ///
  /// The closure is synchronous: nothing can be awaited between begin and commit. It runs on the
  /// store's writer queue, maybe together with other writes in one commit. If another process has
  /// changed the schema meanwhile it is run once, on the new schema.
  ///
  /// - Parameter author: Who writes; kept with the history.
  /// - Throws: What the closure throws, and then nothing was written; `needsMigration`,
  ///   `newerSchema`; `closed`; `storage` if the lock or the commit fails, and then nothing was
  ///   written.
  @discardableResult
  public func write<R: Sendable>(
    author: String? = nil, _ body: @escaping @Sendable (WriteTransaction) throws -> R
  ) async throws -> R {
    try await write(author: author, isRepeatable: false, body)
  }

  /// The same for a small write, many of which come at once.
  ///
  /// - Parameter isRepeatable: True if the closure may be run again. It then shares a transaction,
  ///   and an entry of the history, with neighbors of the same author; if one of them throws, each
  ///   of them is run again in a transaction of its own.
  package func write<R: Sendable>(
    author: String?, isRepeatable: Bool,
    _ body: @escaping @Sendable (WriteTransaction) throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      let box = ResultBox<R>()
      write(author: author, isRepeatable: isRepeatable) { transaction in
        box.value = try body(transaction)
      } completion: { result in
        continuation.resume(with: result.map { box.take() })
      }
    }
  }

  /// The same without waiting.
  ///
  /// - Parameter completion: Called once: after the commit on the store's writer queue, or at once
  ///   if the store is closed.
  package func write(
    author: String? = nil, isRepeatable: Bool = false,
    _ body: @escaping @Sendable (WriteTransaction) throws -> Void,
    completion: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    do {
      try commits.lifetime.checkOpen()
    } catch {
      return completion(.failure(error))
    }
    writer.submit(
      WriterQueue.Job(
        author: author, isRepeatable: isRepeatable, body: body, completion: completion))
  }

  /// The same for a thread that may block: it waits for the commit.
  package func writeBlocking<R>(
    author: String? = nil, _ body: (WriteTransaction) throws -> R
  ) throws -> R {
    try commits.lifetime.checkOpen()
    return try withoutActuallyEscaping(body) { body in
      // The writer may keep its job for a moment after the end; the body must not be in it then.
      let call = BlockingCall<R>(body)
      writer.submit(
        WriterQueue.Job(author: author) { transaction in
          try call.run(in: transaction)
        } completion: { result in
          call.end(result)
        })
      return try call.wait()
    }
  }

  /// The time, as this store's transactions see it.
  package func now() -> Date { options.now() }

  /// The schema as of now.
  public var schema: Schema { get throws { try catalog().schema } }

  /// The identity of this store, part of every reference to its objects.
  public var id: UUID { get throws { try catalog().uuid } }

  /// Runs a closure that changes the schema, alone in its commit. Blocks the calling thread.
  package func runAlone<R>(_ body: (TreeWriter) throws -> R) throws -> R {
    try runAlone { transaction, _ in try body(transaction) }
  }

  package func runAlone<R>(_ body: (TreeWriter, WriterScratch) throws -> R) throws -> R {
    try commits.lifetime.checkOpen()
    return try writer.runAlone(body)
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
/// SAFETY: the writer's thread alone touches it until `end`, and the caller's alone after that,
/// which the semaphore orders.
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
