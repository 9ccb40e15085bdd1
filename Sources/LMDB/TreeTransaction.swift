import CMooringLMDB
import Glibc

/// A view of the whole store: a snapshot, or the view of the writer.
///
/// It must not be used by two threads at once. Using it after its scope, or while a nested
/// transaction runs in it, is an error of the program and traps.
public class TreeTransaction {
  final let environment: Environment
  // SAFETY (of the unchecked members): no other code is called while these are read or changed.
  /// The handle; null after the transaction has ended, and while a nested transaction runs in it.
  @exclusivity(unchecked) final var handle: OpaquePointer?
  @exclusivity(unchecked) final var openCursors = 0
  /// The cursor at the place of the last read or write, by the handle of the tree.
  @exclusivity(unchecked) final var places: [OpaquePointer?] = []

  /// The name of this machine among those that write to the commit log of the store; `nil` without
  /// a log.
  public final var machineName: String? { environment.options.commitLog?.machineName }

  init(environment: Environment, raw: OpaquePointer) {
    self.environment = environment
    handle = raw
  }

  /// The id of the last commit that a snapshot sees, or of the commit that this write will be.
  public final var id: Int { Int(mdb_txn_id(raw)) }

  /// Returns the value of a key; nil if there is none. A tree that is not in this snapshot reads as
  /// empty.
  ///
  /// - Returns: bytes in the map, valid until the transaction ends or, in a write transaction,
  ///   until its next write.
  /// - Complexity: O(log *n*); allocates nothing.
  public final func get(
    _ tree: Tree, _ key: UnsafeRawBufferPointer
  ) throws -> UnsafeRawBufferPointer? {
    var keyValue = MDB_val(key)
    var value = MDB_val()
    // SAFETY: LMDB reads the key and keeps no pointer to it.
    let result =
      if let place = place(in: tree) {
        mdb_cursor_get(place, &keyValue, &value, MDB_SET)
      } else {
        mdb_get(raw, tree.handle, &keyValue, &value)
      }
    if result == MDB_SUCCESS { return UnsafeRawBufferPointer(value) }
    if result == MDB_NOTFOUND || isUnknownTree(result, tree.handle) { return nil }
    throw environment.failure(result, doing: "read")
  }

  /// Returns the value of a key of a tree with integer keys; nil if there is none.
  public func get(_ tree: Tree, number: UInt64) throws -> UnsafeRawBufferPointer? {
    try withUnsafeBytes(of: number) { try get(tree, $0) }
  }

  @inline(__always)
  final func place(in tree: Tree) -> OpaquePointer? {
    let number = Int(tree.handle)
    return number < places.count ? places[number] : nil
  }

  /// Returns a cursor that has no position yet, before the first entry.
  public final func cursor(_ tree: Tree) throws -> Cursor {
    var cursor: OpaquePointer?
    let result = mdb_cursor_open(raw, tree.handle, &cursor)
    guard result == MDB_SUCCESS || isUnknownTree(result, tree.handle) else {
      throw environment.failure(result, doing: "opening a cursor")
    }
    return Cursor(cursor, tree: tree, transaction: self)
  }

  /// - Complexity: O(1).
  public final func count(_ tree: Tree) throws -> Int { try statistics(tree).entries }

  /// - Complexity: O(1).
  public final func statistics(_ tree: Tree) throws -> TreeStatistics {
    // mdb_stat reports nothing for a tree that is not in the snapshot, so that is checked first.
    guard try environment.exists(tree.name, in: self) else { return TreeStatistics() }
    return try statistics(ofHandle: tree.handle)
  }

  final func statistics(ofHandle handle: MDB_dbi) throws -> TreeStatistics {
    var statistics = MDB_stat()
    let result = mdb_stat(raw, handle, &statistics)
    if isUnknownTree(result, handle) { return TreeStatistics() }
    guard result == MDB_SUCCESS else {
      throw environment.failure(result, doing: "reading statistics")
    }
    return TreeStatistics(statistics)
  }

  /// The transaction's handle; traps if the transaction cannot be used.
  final var raw: OpaquePointer {
    guard let handle else {
      preconditionFailure("the transaction has ended, or a nested one runs in it")
    }
    return handle
  }

  /// Ends the transaction on the side of Swift; the caller commits, resets or aborts the handle.
  final func end() -> OpaquePointer {
    precondition(openCursors == 0, "a cursor outlives its transaction")
    let handle = raw
    forgetPlaces()
    self.handle = nil
    return handle
  }

  final func forgetPlaces() {
    // SAFETY: the transaction, which is still open, has closed none of them.
    for place in places { if let place { mdb_cursor_close(place) } }
    places = []
  }

  /// True if a tree's handle was opened after this transaction began (EINVAL): the tree is newer
  /// than the snapshot and not in it.
  private func isUnknownTree(_ result: Int32, _ handle: MDB_dbi) -> Bool {
    guard result == EINVAL else { return false }
    var flags: UInt32 = 0
    return mdb_dbi_flags(raw, handle, &flags) == EINVAL
  }
}

/// A snapshot. It sees the last commit before it began, and nothing later.
public final class TreeReader: TreeTransaction {
  // SAFETY (of the unchecked members): no other code is called while these are read or changed.
  /// The tree of the last lookups by number, and how many there were.
  @exclusivity(unchecked) private var lookups: (tree: MDB_dbi, count: Int) = (0, 0)
  /// Its pages, if they can be read without LMDB.
  @exclusivity(unchecked) private var pages: TreePages?

  /// The lookup in a tree that finds its pages. They are found at once for the first tree, for
  /// which LMDB would read as much; those of another one only if it is not looked up in just once.
  private static let lookupsMin = 2

  /// Returns the value of a key of a tree with integer keys; nil if there is none.
  public override func get(_ tree: Tree, number: UInt64) throws -> UnsafeRawBufferPointer? {
    if lookups.tree == tree.handle, let value = pages?.value(of: number) { return value }
    return try find(number, in: tree)
  }

  /// Returns the values of several keys of a tree with integer keys; nil for those that only `get`
  /// finds, if they exist.
  public func get(_ tree: Tree, numbers: [UInt64]) throws -> [UnsafeRawBufferPointer?] {
    if lookups.tree != tree.handle || lookups.count < TreeReader.lookupsMin {
      lookups = (tree.handle, TreeReader.lookupsMin)
      pages = try environment.record(of: tree.name, in: self).flatMap {
        TreePages($0, in: environment)
      }
    }
    guard let pages else { return numbers.map { _ in nil } }
    if environment.prefetch.isDue() { pages.request(numbers, by: environment.prefetch) }
    return pages.values(of: numbers)
  }

  private func find(_ number: UInt64, in tree: Tree) throws -> UnsafeRawBufferPointer? {
    if lookups.tree != tree.handle {
      // No tree has the handle 0.
      lookups = (tree.handle, lookups.tree == 0 ? TreeReader.lookupsMin - 1 : 0)
      pages = nil
    }
    lookups.count &+= 1
    if lookups.count == TreeReader.lookupsMin,
      let record = try environment.record(of: tree.name, in: self)
    {
      pages = TreePages(record, in: environment)
      if let value = pages?.value(of: number) { return value }
    }
    return try super.get(tree, number: number)
  }
}

/// The size and shape of one tree.
public struct TreeStatistics: Sendable, Hashable {
  public var depth = 0
  public var branchPages = 0
  public var leafPages = 0
  public var overflowPages = 0
  public var entries = 0
  /// The size of a page in bytes.
  public var pageSize = 0

  init() {}

  /// The number of branch, leaf and overflow pages. For a damaged tree it may be any number.
  public var pages: Int { branchPages &+ leafPages &+ overflowPages }

  /// The size of all its pages, in bytes.
  public var bytes: Int { pages &* pageSize }

  init(_ statistics: MDB_stat) {
    depth = Int(statistics.ms_depth)
    branchPages = Int(statistics.ms_branch_pages)
    leafPages = Int(statistics.ms_leaf_pages)
    overflowPages = Int(statistics.ms_overflow_pages)
    entries = Int(statistics.ms_entries)
    pageSize = Int(statistics.ms_psize)
  }
}

extension MDB_val {
  @inline(__always)
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }
}

extension UnsafeRawBufferPointer {
  @inline(__always)
  init(_ value: MDB_val) {
    self.init(start: value.mv_data, count: value.mv_size)
  }
}
