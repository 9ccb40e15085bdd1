import Dispatch
public import EntityModel
public import Foundation
import LMDB

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
    /// The code that steps of this program's migrations run.
    public var migrationCodes: [MigrationCode] = []
    /// What runs `importLegacy` steps of migrations: `LegacyImporter.files` of the module
    /// LegacyImport.
    public var legacyImporter: LegacyImporter?
    /// The program's name and version, as the history of migrations keeps it.
    public var program: String?
    /// The time that write transactions see.
    public var now: @Sendable () -> Date = { Date() }
    /// `false` leaves commits to the system's own flushing: a benchmark's switch, for a power cut
    /// may then damage the store.
    public var flushesCommits = true
    /// What makes observers look for commits that no bell has announced. The first store that is
    /// opened on a folder decides.
    var commitTicker = CommitTicker.everyTwoSeconds

    public init() {}
  }

  /// What opening may do about migrations.
  public enum MigrationPolicy: Sendable {
    /// Create a missing store and apply all migrations to it; leave a store that has been
    /// migrated before as it is. Writes to one that is behind are then refused.
    case ifEmpty
    /// Create a missing store, and apply what is pending. Opening then takes as long as that does, and
    /// fails with `busy` if another process is migrating. A destructive step is refused.
    case pending
    /// Create a missing store and apply nothing: for a program that then migrates it, with options of
    /// its own.
    case create
    /// Never create, never apply.
    case never
  }

  public let folder: String
  let environment: Environment
  let catalogTree: Tree
  let catalogs: CatalogCache
  let options: Options
  let knownLines: KnownLines
  let fetchThreads = BoundedThreads("mooring.fetch", threadsMax: Limits.fetchThreadsMax)
  /// Wakes those who wait for a commit.
  package let commits: StoreCommits
  let writer: WriterQueue

  /// Opens the store in a folder.
  ///
  /// Indexes whose texts were put in order by another version of Unicode or of a locale's rules are
  /// made anew first, unless the store is opened for reading only: those that read meanwhile do
  /// without them, and those that write with the other version are refused from then on.
  ///
  /// - Parameter sources: Where the migration lines that this program knows come from. The
  ///   store's own line, `system`, is always among them. Of a store that is opened for reading only,
  ///   files that are part of the program are read once something asks for them.
  /// - Parameter requiring: The Swift types that the program uses, checked against the catalog.
  /// - Throws: `storeMissing`, `notAStore`, `newerFormat`, `schemaMismatch` (it lists every
  ///   difference), `migration`, `storage`.
  public static func open(
    at folder: String, migrations sources: [MigrationSource] = [],
    migrate: MigrationPolicy = .never,
    requiring types: [any Entity.Type] = [], options: Options = Options()
  ) throws -> Store {
    let lines = try KnownLines([.system] + sources)
    // Whoever may write meets a file that cannot be read here, and not at a later write.
    if !options.isReadOnly { _ = try lines.all() }
    let store = try translatingStorageErrors {
      try Store(folder: folder, lines: lines, creates: migrate != .never, options: options)
    }
    let history = try store.catalog().history
    // Only what is in the history can keep this program out.
    if history.contains(where: { $0.older == .refuse }) {
      try store.migrationState().checkReadable()
    }
    let isNew = history.isEmpty
    if migrate == .pending || (migrate == .ifEmpty && isNew) { try store.migrate() }
    if !options.isReadOnly { try CollationRebuild(store).run() }
    try store.require(types)
    return store
  }

  /// Holds Swift types against the catalog.
  ///
  /// - Throws: `schemaMismatch` that lists every difference.
  public func require(_ types: [any Entity.Type]) throws {
    try EntityCheck.check(types, against: try catalog().schema)
  }

  private init(folder: String, lines: KnownLines, creates: Bool, options: Options) throws {
    self.folder = folder
    self.options = options
    knownLines = lines
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
      try MigrationState(lines: lines.all(), of: catalog).checkWritable(in: folder)
      try catalog.checkCollations()
    }
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
    named name: String, in transaction: LMDB.WriteTransaction, of environment: Environment
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
  /// - Parameter isRepeatable: True if the closure may be run again. It then shares a transaction, and
  ///   an entry of the history, with neighbors of the same author; if one of them throws, each of them is
  ///   run again in a transaction of its own.
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
  /// - Parameter completion: Called once: after the commit on the store's writer queue, or at once if
  ///   the store is closed.
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
  func runAlone<R>(_ body: (LMDB.WriteTransaction) throws -> R) throws -> R {
    try runAlone { transaction, _ in try body(transaction) }
  }

  func runAlone<R>(_ body: (LMDB.WriteTransaction, WriterScratch) throws -> R) throws -> R {
    try commits.lifetime.checkOpen()
    return try writer.runAlone(body)
  }

  func catalog() throws -> Catalog {
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
/// SAFETY: the writer's thread alone touches it until `end`, and the caller's alone after that, which
/// the semaphore orders.
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
