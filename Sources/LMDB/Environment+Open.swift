import CMooringLMDB
import Dispatch
import Glibc
public import SystemSupport

extension Environment {
  /// Opens the store in a folder, or returns the object with which this process has it open.
  ///
  /// The folder contains `data.mdb`, `lock.mdb` and the two files of the writer lock, all with mode
  /// 0600; a folder that is created has mode 0700. Before the file is mapped, its size and its meta
  /// pages are compared with each other, so that a cut or overwritten file is an error and not a
  /// signal. The tree of trees is checked, the named trees are not: that is the task of
  /// `PageFile.verify`.
  ///
  /// - Parameter options: the options of the first open apply while the object lives. Opening a
  ///   writable environment while a read-only one is open fails with `.programming`.
  /// - Throws: `.storeMissing`, `.notAFolder`, `.permission` (also for a file that is a link or
  ///   belongs to another user than the folder), `.damaged`, `.notAStore`,
  ///   `.addressSpace`, `.tooManyTrees`, `.diskFull`, `.inputOutput`; `.busy` if the data file is
  ///   being replaced for longer than `Options.writerDeadline`.
  public static func open(
    at folder: String, options: Options = .init()
  ) throws(StorageError) -> Environment {
    try StoreFiles.prepareFolder(folder, create: options.createIfMissing)
    let identity = try StoreFiles.identity(ofFolder: folder)
    while true {
      switch try OpenEnvironments.find(
        identity,
        orOpen: { entry throws(StorageError) in
          try openFirst(folder: folder, options: options, entry: entry)
        })
      {
      case .closing(let entry): entry.closed.wait()
      case .open(let environment):
        guard environment.options.access == .readWrite || options.access == .readOnly else {
          throw StorageError(
            .programming, "the store is open for reading only in this process",
            context: [("path", folder)], advice: "open it for writing first")
        }
        return environment
      }
    }
  }

  private static func openFirst(
    folder: String, options: Options, entry: OpenEnvironments.Entry
  ) throws(StorageError) -> Environment {
    let creates = options.createIfMissing && options.access == .readWrite
    if creates {
      try StoreFiles.emptyUncommittedFile(folder: folder, within: options.writerDeadline)
    }
    let gate = try OpeningGate.enter(folder, within: options.writerDeadline)
    defer { gate.release() }
    try StoreFiles.prepareFiles(folder: folder, create: creates)
    ignoreFileSizeSignal()
    let lock = options.access == .readWrite ? try WriterLock(folder: folder) : nil
    let (raw, options) = try openWithRoom(folder: folder, options)
    // From here on `deinit` closes everything.
    let environment = Environment(
      raw: raw, folder: folder, options: options, writerLock: lock, entry: entry)
    if options.access == .readWrite, options.flushesCommits, environment.lastTransactionID == 0 {
      try flushCreation(of: environment)
    }
    if options.guardsFaults {
      // Because on a system without /proc a sound store can be opened all the same.
      try? FaultGuard.install(for: environment)
    }
    mdb_reader_check(raw, nil)
    try environment.trees.openMissing(in: environment)
    return environment
  }

  /// Opens the store, and opens it again if it has too many trees for the options.
  ///
  /// - Returns: The options that it is open with as well.
  private static func openWithRoom(
    folder: String, _ options: Options
  ) throws(StorageError) -> (OpaquePointer, Options) {
    let raw = try openRaw(folder: folder, options: options)
    var statistics = MDB_stat()
    mdb_env_stat(raw, &statistics)
    // The number may be that of a damaged page.
    let trees = min(Int(clamping: statistics.ms_entries), treesOpenedMax)
    guard trees + trees / 4 >= options.treesMax else { return (raw, options) }
    // SAFETY: nothing else has the pointer yet.
    mdb_env_close(raw)
    var options = options
    options.treesMax = max(options.treesMax, trees + 256)
    return (try openRaw(folder: folder, options: options), options)
  }

  private static let treesOpenedMax = 32_768

  /// Flushes what LMDB does not flush: its first pages (see `PageSource.isUncommitted`) and the
  /// names of the files and folders. Each program that opens the store before the first commit does
  /// so, because the one that has created the files may be at any place of its work.
  private static func flushCreation(of environment: Environment) throws(StorageError) {
    let result = mdb_env_sync(environment.raw, 1)
    guard result == MDB_SUCCESS else { throw environment.failure(result, doing: "creation") }
    try StoreFiles.flushNames(environment.folder)
  }

  private static func openRaw(
    folder: String, options: Options
  ) throws(StorageError) -> OpaquePointer {
    var handle: OpaquePointer?
    var result = mdb_env_create(&handle)
    guard result == MDB_SUCCESS, let raw = handle else {
      throw .lmdb(result, doing: "open", context: [("path", folder)])
    }
    mdb_env_set_mapsize(raw, options.mapSize)
    mdb_env_set_maxdbs(raw, UInt32(options.treesMax))
    mdb_env_set_maxreaders(raw, UInt32(options.readersMax))
    mdb_env_set_assert(raw, exitOnDamage)
    // Read-ahead is on only for long walks: see `MapReadAhead`. New pages are zeroed (no
    // MDB_NOMEMINIT), so that no old memory content gets into the file.
    var flags = UInt32(MDB_NOTLS | MDB_NORDAHEAD)
    if options.access == .readOnly { flags |= UInt32(MDB_RDONLY) }
    if !options.flushesCommits { flags |= UInt32(MDB_NOSYNC) }
    result = mdb_env_open(raw, folder, flags, 0o600)
    guard result == MDB_SUCCESS else {
      // SAFETY: LMDB requires mdb_env_close after a failed open, and nothing else has the pointer.
      mdb_env_close(raw)
      if result == EACCES { try checkLockFile(folder: folder) }
      let context = [("path", folder), ("map size", String(options.mapSize))]
      throw .lmdb(result, doing: "open", context: context)
    }
    return raw
  }

  /// Throws if the system refuses access to the lock file, which readers need, too.
  private static func checkLockFile(folder: String) throws(StorageError) {
    let path = StoreFiles.lockFile(folder)
    if access(path, R_OK | W_OK) == 0 || (errno == ENOENT && access(folder, W_OK) == 0) { return }
    throw StorageError(
      .permission, "the lock file, in which readers register, cannot be written",
      context: [("path", path), ("cause", StorageError.text(of: errno))],
      advice: "run as the owner of the store, or copy data.mdb to a folder of your own")
  }

  /// Ignores SIGXFSZ, which a write beyond `ulimit -f` raises and which would end the process. The
  /// write then fails with EFBIG, which becomes `.diskFull`. A handler of the program stays.
  private static func ignoreFileSizeSignal() {
    var action = sigaction()
    sigaction(SIGXFSZ, nil, &action)
    // SAFETY: both members of the union have the size of a pointer; SIG_DFL is null.
    let isDefault = unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == 0
    if isDefault { signal(SIGXFSZ, SIG_IGN) }
  }
}

/// Ends the process when LMDB finds its own pages in a state that no write of LMDB leaves. This
/// happens in the middle of a call, possibly with locks held, and the call cannot return;
/// continuing could write the damage to the file. So the process reports the damage and ends with
/// the exit code for bad data. The kernel frees the locks. Without this function LMDB would call
/// abort().
private func exitOnDamage(environment: OpaquePointer?, message: UnsafePointer<CChar>?) {
  let text = message.map { String(cString: $0) } ?? "an assertion failed"
  let name = CommandLine.arguments.first?.split(separator: "/").last ?? "store"
  let line = "\(name): the store is damaged (\(text)); run `mooring check`\n"
  line.utf8.withContiguousStorageIfAvailable { _ = Glibc.write(2, $0.baseAddress, $0.count) }
  _exit(65)
}

/// The environments that this process has open, by folder.
enum OpenEnvironments {
  final class Entry: Sendable {
    let identity: StoreFiles.Identity
    /// Left when the environment is closed. From the last release until then the environment can be
    /// neither used nor opened again.
    let closed = DispatchGroup()
    private let environment = Locked(Weak())

    init(_ identity: StoreFiles.Identity) { self.identity = identity }

    func current() -> Environment? { environment.withLock { $0.value } }

    func set(_ value: Environment) {
      closed.enter()
      environment.withLock { $0.value = value }
    }
  }

  struct Weak: Sendable { weak var value: Environment? }

  enum Found { case open(Environment), closing(Entry) }

  private static let entries = Locked<[StoreFiles.Identity: Entry]>([:])
  /// Held while an environment is opened, so that no environment is opened twice.
  private static let opening = ThreadLock()

  static func find(
    _ identity: StoreFiles.Identity, orOpen open: (Entry) throws(StorageError) -> Environment
  ) throws(StorageError) -> Found {
    opening.lock()
    defer { opening.unlock() }
    if let entry = entries.withLock({ $0[identity] }) {
      return entry.current().map(Found.open) ?? .closing(entry)
    }
    let entry = Entry(identity)
    // An opening that fails late closes an environment, which removes its entry. So the entry is
    // stored only when the opening has succeeded.
    let environment = try open(entry)
    entry.set(environment)
    entries.withLock { $0[identity] = entry }
    return .open(environment)
  }

  /// Runs `body` while this process does not have the folder open and cannot open it. `body` must
  /// not open any folder.
  ///
  /// - Returns: nil if this process has the folder open.
  static func whileNotOpen<R>(
    _ identity: StoreFiles.Identity, _ body: () throws -> R
  ) throws -> R? {
    while true {
      opening.lock()
      guard let entry = entries.withLock({ $0[identity] }) else {
        defer { opening.unlock() }
        return try body()
      }
      opening.unlock()
      if entry.current() != nil { return nil }
      entry.closed.wait()
    }
  }

  static func remove(_ entry: Entry) {
    let wasOpen = entries.withLock { entries in
      guard entries[entry.identity] === entry else { return false }
      entries[entry.identity] = nil
      return true
    }
    if wasOpen { entry.closed.leave() }
  }
}
