import CMooringLMDB
import Glibc
import Synchronization
import SystemSupport

/// A named tree of an environment. The value is valid while the environment is open; the tree may
/// still be missing in a snapshot.
public struct Tree: Sendable, Hashable {
  let handle: MDB_dbi
  public let name: String
}

extension Environment {
  /// Returns the tree of this name; nil if the snapshot has none.
  public func tree(named name: String, in transaction: TreeTransaction) throws -> Tree? {
    guard try exists(name, in: transaction) else { return nil }
    let created = (transaction as? TreeWriter)?.createdTrees[name]
    return (created ?? trees.handle(named: name)).map { Tree(handle: $0, name: name) }
  }

  /// Returns the tree of this name, and creates it if it is missing. If the transaction fails, the
  /// tree is not created.
  ///
  /// - Parameter hasIntegerKeys: True for keys of 8 bytes in the machine's byte order that sort as
  ///   unsigned integers (`MDB_INTEGERKEY`); a comparison costs less than one of bytes. Stored with
  ///   the tree.
  /// - Throws: `.keyInvalid` for a name that is empty, longer than 511 bytes or holds a zero
  ///   byte; `.tooManyTrees`.
  public func createTree(
    named name: String, hasIntegerKeys: Bool = false, in transaction: TreeWriter
  ) throws -> Tree {
    guard (1...511).contains(name.utf8.count), !name.utf8.contains(0) else {
      throw StorageError(
        .keyInvalid, "a tree needs a name of 1 to 511 bytes without zero bytes",
        context: [("name", String(name.prefix(64)))], advice: "choose another name")
    }
    let wasDropped = transaction.droppedTrees.remove(name) != nil
    if !wasDropped, let tree = try tree(named: name, in: transaction) { return tree }
    let tree = try createMissing(named: name, hasIntegerKeys, in: transaction)
    try transaction.recorder?.record(hasIntegerKeys ? .createWithIntegerKeys : .create, tree)
    return tree
  }

  private func createMissing(
    named name: String, _ hasIntegerKeys: Bool, in transaction: TreeWriter
  ) throws -> Tree {
    // It may exist: dropped in this transaction, it keeps its name until the commit.
    if let tree = try tree(named: name, in: transaction) { return tree }
    transaction.writeCount &+= 1
    if let handle = trees.handle(named: name) {
      try trees.createRecord(
        named: name, hasIntegerKeys: hasIntegerKeys, in: transaction)
      return Tree(handle: handle, name: name)
    }
    var handle: MDB_dbi = 0
    let flags = MDB_CREATE | (hasIntegerKeys ? MDB_INTEGERKEY : 0)
    let result = mdb_dbi_open(transaction.raw, name, UInt32(flags), &handle)
    guard result == MDB_SUCCESS else { throw failure(result, doing: "creating a tree") }
    transaction.createdTrees[name] = handle
    return Tree(handle: handle, name: name)
  }

  /// Returns the names of the trees in the snapshot, in byte order, without that of the position
  /// in the commit log.
  public func treeNames(in transaction: TreeTransaction) throws -> [String] {
    var names: [String] = []
    try trees.forEachName(in: transaction.raw, environment: self) {
      if $0 != PositionTree.name { names.append($0) }
      return true
    }
    return names
  }

  /// True if the keys of a tree are integers.
  public func hasIntegerKeys(_ tree: Tree, in transaction: TreeTransaction) throws -> Bool {
    var flags: UInt32 = 0
    let result = mdb_dbi_flags(transaction.raw, tree.handle, &flags)
    guard result == MDB_SUCCESS else { throw failure(result, doing: "reading the kind of a tree") }
    return flags & UInt32(MDB_INTEGERKEY) != 0
  }

  /// Calls `body` with each entry of the free list or of the main tree, which have no `Tree`, until
  /// it returns `false`.
  func forEachEntry(
    of handle: MDB_dbi, in transaction: OpaquePointer, doing: StaticString,
    _ body: (_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer) -> Bool
  ) throws(StorageError) {
    var cursor: OpaquePointer?
    let opened = mdb_cursor_open(transaction, handle, &cursor)
    guard opened == MDB_SUCCESS, let cursor else { throw failure(opened, doing: doing) }
    defer { mdb_cursor_close(cursor) }
    var key = MDB_val()
    var value = MDB_val()
    var result = mdb_cursor_get(cursor, &key, &value, MDB_FIRST)
    while result == MDB_SUCCESS {
      guard body(UnsafeRawBufferPointer(key), UnsafeRawBufferPointer(value)) else { return }
      result = mdb_cursor_get(cursor, &key, &value, MDB_NEXT)
    }
    guard result == MDB_NOTFOUND else { throw failure(result, doing: doing) }
  }

  func exists(_ name: String, in transaction: TreeTransaction) throws -> Bool {
    try record(of: name, in: transaction) != nil
  }

  /// Returns the record of a tree in the tree of trees, in the map; see `PageFormat`. In
  /// a write transaction it is the record of the last commit.
  func record(
    of name: String, in transaction: TreeTransaction
  ) throws -> UnsafeRawBufferPointer? {
    var name = name
    return try name.withUTF8 { bytes in
      var key = MDB_val(UnsafeRawBufferPointer(bytes))
      var value = MDB_val()
      let result = mdb_get(transaction.raw, TreeHandles.main, &key, &value)
      if result == MDB_SUCCESS { return UnsafeRawBufferPointer(value) }
      if result == MDB_NOTFOUND || result == MDB_BAD_VALSIZE { return nil }
      throw failure(result, doing: "looking up a tree")
    }
  }
}

/// The handles of all named trees. They are opened before their use and never closed.
///
/// LMDB numbers handles per environment, and a transaction knows only those that existed when it
/// began. Opening one is safe only while no other transaction of the process opens one, and a
/// handle can be closed only while it is not in use. Hence handles are opened when the environment
/// opens, by the transaction that creates a tree, or, for trees that other processes created,
/// before a transaction begins whose snapshot has them. They are never closed.
final class TreeHandles: Sendable {
  /// The handle of the tree whose entries are the named trees (MAIN_DBI).
  static let main: MDB_dbi = 1
  /// The node flag of such an entry (F_SUBDATA in mdb.c). LMDB's own functions, called with it, put
  /// and remove the entry of a tree.
  private static let treeRecordFlag: UInt32 = 0x02

  private let byName = Locked<[String: MDB_dbi]>([:])
  /// Held while handles are opened; a write transaction holds it until it ends, as it may create
  /// trees.
  private let opening = ThreadLock()
  /// The newest commit that is known to have a handle for each of its trees, for new transactions.
  let verifiedTransaction = Atomic<Int>(-1)

  func handle(named name: String) -> MDB_dbi? { byName.withLock { $0[name] } }

  func adopt(_ created: [String: MDB_dbi]) {
    guard !created.isEmpty else { return }
    byName.withLock { $0.merge(created) { _, new in new } }
  }

  func markVerified(_ transaction: Int) {
    verifiedTransaction.max(transaction, ordering: .releasing)
  }

  /// Runs a write transaction. Every tree has its handle before it begins, and no reader opens one
  /// before it has ended.
  func whileOpeningIsBlocked<R>(in environment: Environment, _ body: () throws -> R) throws -> R {
    opening.lock()
    defer { opening.unlock() }
    let last = environment.lastTransactionID
    if last != verifiedTransaction.load(ordering: .relaxed) {
      try openMissingHoldingLock(in: environment)
    }
    return try body()
  }

  /// True if the transaction knows a handle for every tree of its snapshot.
  func allVisible(in transaction: OpaquePointer, environment: Environment) throws -> Bool {
    var all = true
    try forEachName(in: transaction, environment: environment) { name in
      var flags: UInt32 = 0
      all =
        handle(named: name).map { mdb_dbi_flags(transaction, $0, &flags) == MDB_SUCCESS } ?? false
      return all
    }
    if all { markVerified(Int(mdb_txn_id(transaction))) }
    return all
  }

  /// Opens a handle for each tree that another process created. Waits for a write transaction of
  /// this process that is running.
  func openMissing(in environment: Environment) throws(StorageError) {
    opening.lock()
    defer { opening.unlock() }
    try openMissingHoldingLock(in: environment)
  }

  private func openMissingHoldingLock(in environment: Environment) throws(StorageError) {
    var handle: OpaquePointer?
    let begun = mdb_txn_begin(environment.raw, nil, UInt32(MDB_RDONLY), &handle)
    guard begun == MDB_SUCCESS, let transaction = handle else {
      throw environment.failure(begun, doing: "opening trees")
    }
    let opened: [String: MDB_dbi]
    do {
      opened = try openMissing(in: transaction, environment: environment)
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    let id = Int(mdb_txn_id(transaction))
    // Only a commit keeps the handles that a transaction has opened, an abort does not.
    let committed = mdb_txn_commit(transaction)
    guard committed == MDB_SUCCESS else {
      throw environment.failure(committed, doing: "opening trees")
    }
    adopt(opened)
    markVerified(id)
  }

  private func openMissing(
    in transaction: OpaquePointer, environment: Environment
  ) throws(StorageError) -> [String: MDB_dbi] {
    // Opening the main tree once sets its order; without that, a lookup in it would crash.
    var main: MDB_dbi = 0
    let result = mdb_dbi_open(transaction, nil, 0, &main)
    guard result == MDB_SUCCESS else { throw environment.failure(result, doing: "opening trees") }
    var missing: [String] = []
    try forEachName(in: transaction, environment: environment) { name in
      if handle(named: name) == nil { missing.append(name) }
      return true
    }
    var opened: [String: MDB_dbi] = [:]
    for name in missing {
      var handle: MDB_dbi = 0
      let result = mdb_dbi_open(transaction, name, 0, &handle)
      guard result == MDB_SUCCESS else {
        throw environment.failure(result, doing: "opening a tree")
      }
      opened[name] = handle
    }
    return opened
  }

  /// Calls `body` with each tree's name, in byte order, until it returns `false`. Entries of the
  /// main tree that are not trees, or whose names are not UTF-8, are not Mooring's and are skipped.
  func forEachName(
    in transaction: OpaquePointer, environment: Environment, _ body: (String) -> Bool
  ) throws(StorageError) {
    try environment.forEachEntry(of: Self.main, in: transaction, doing: "listing trees") {
      key, value in
      guard value.count == PageFormat.treeRecordCount, !key.contains(0),
        let name = String(validating: key, as: UTF8.self)
      else { return true }
      return body(name)
    }
  }

  /// Creates the entry of an empty tree whose handle is already open: `mdb_dbi_open` would return
  /// the handle and create no entry.
  func createRecord(
    named name: String, hasIntegerKeys: Bool, in transaction: TreeWriter
  ) throws {
    // MDB_db: all zero except the flags, in little-endian order, and the root, whose value stands
    // for no page.
    var record = [UInt8](repeating: 0, count: PageFormat.treeRecordCount)
    if hasIntegerKeys { record[4] = UInt8(MDB_INTEGERKEY) }
    record.replaceSubrange(40..<48, with: repeatElement(0xff, count: 8))
    let result = record.withUnsafeBytes { value in
      Array(name.utf8).withUnsafeBytes { key in
        withMainCursor(of: transaction.raw) { cursor in
          var key = MDB_val(key)
          var value = MDB_val(value)
          return mdb_cursor_put(cursor, &key, &value, Self.treeRecordFlag)
        }
      }
    }
    guard result == MDB_SUCCESS else {
      throw transaction.environment.failure(result, doing: "creating a tree")
    }
  }

  /// Removes the entries of trees that the last write emptied, while the writer lock is still held:
  /// nobody can have created them again. That write is committed already, so a failure here is not
  /// its error. The trees then stay, empty, as after a crash at this place. They are not removed
  /// later, because by then they may be the empty trees of someone who uses the names again.
  ///
  /// With a commit log all machines need the same names: an operation on a tree that is left here
  /// would not fit where it is gone. So the commit that drops trees also stores their names (see
  /// `PositionTree`), and they are removed before the next transaction at the latest.
  ///
  /// - Returns: The result of LMDB.
  @discardableResult
  func removeEmptied(_ names: Set<String>, in environment: Environment) -> Int32 {
    guard !names.isEmpty else { return MDB_SUCCESS }
    var handle: OpaquePointer?
    let begun = mdb_txn_begin(environment.raw, nil, 0, &handle)
    guard begun == MDB_SUCCESS, let handle else { return begun }
    for name in names {
      let removed = removeRecord(named: name, in: handle)
      guard removed == MDB_SUCCESS else {
        mdb_txn_abort(handle)
        return removed
      }
    }
    if environment.options.commitLog != nil, let tree = self.handle(named: PositionTree.name) {
      let forgotten = PositionTree.droppedKey.withUnsafeBytes {
        var key = MDB_val($0)
        return mdb_del(handle, tree, &key, nil)
      }
      guard forgotten == MDB_SUCCESS || forgotten == MDB_NOTFOUND else {
        mdb_txn_abort(handle)
        return forgotten
      }
    }
    // A failed commit ends the transaction, too.
    return mdb_txn_commit(handle)
  }

  /// Removes the entry of a tree if the tree is empty.
  private func removeRecord(named name: String, in transaction: OpaquePointer) -> Int32 {
    Array(name.utf8).withUnsafeBytes { bytes in
      withMainCursor(of: transaction) { cursor in
        var key = MDB_val(bytes)
        var value = MDB_val()
        let found = mdb_cursor_get(cursor, &key, &value, MDB_SET_KEY)
        if found == MDB_NOTFOUND { return MDB_SUCCESS }
        guard found == MDB_SUCCESS else { return found }
        let record = UnsafeRawBufferPointer(value)
        guard record.count == PageFormat.treeRecordCount,
          record.loadUnaligned(fromByteOffset: 40, as: UInt64.self) == .max
        else { return MDB_SUCCESS }
        return mdb_cursor_del(cursor, Self.treeRecordFlag)
      }
    }
  }

  private func withMainCursor(
    of transaction: OpaquePointer, _ body: (OpaquePointer) -> Int32
  ) -> Int32 {
    var cursor: OpaquePointer?
    let result = mdb_cursor_open(transaction, Self.main, &cursor)
    guard result == MDB_SUCCESS, let cursor else { return result }
    defer { mdb_cursor_close(cursor) }
    return body(cursor)
  }
}
