import CMooringLMDB
import SystemSupport

/// The one write transaction of a store.
///
/// It sees its own changes. After an error from a write the transaction can still be used, except
/// after `.mapFull`: then it can only be aborted.
public final class TreeWriter: TreeTransaction {
  /// The part of a commit that is on the device when a write returns.
  public enum Flush: Sendable {
    /// All changes.
    case complete
    /// All pages of the changes, but not the meta page that makes them the newest commit: it
    /// follows with the next commit, of any process. A loss of power before that undoes this commit
    /// as a whole, and no earlier one.
    case pagesOnly
  }

  /// The flush of the commit. A nested transaction has no flush of its own.
  public var flush = Flush.complete
  /// The trees created here, by name. Other transactions see them when the outermost transaction
  /// has committed.
  var createdTrees: [String: MDB_dbi] = [:]
  /// The trees emptied by `drop`, whose names are removed after the commit.
  var droppedTrees: Set<String> = []
  /// The failure because of which LMDB refuses the commit. It gives the reason, which the refusal
  /// does not.
  private(set) var firstFailure: StorageError?
  /// True at a tree's handle if the tree was found to exist in this transaction.
  // SAFETY: no other code is called while these are read or changed, as for `places`.
  @exclusivity(unchecked) private var known: [Bool]
  /// Grows with each write, also one by a cursor and one of a nested transaction. What was read at
  /// one number is valid for as long as the number is the same.
  public final var writes: Int { writeCount }
  // SAFETY: as for `known`.
  @exclusivity(unchecked) final var writeCount = 0
  /// Records the operations for the commit log; `nil` without a log.
  // SAFETY: no other code is called while it is read or changed, as for `places`.
  @exclusivity(unchecked) final var recorder: OperationRecorder?

  init(environment: Environment, raw: OpaquePointer, parent: TreeWriter?) {
    known = parent?.known ?? []
    createdTrees = parent?.createdTrees ?? [:]
    droppedTrees = parent?.droppedTrees ?? []
    recorder = parent?.recorder
    super.init(environment: environment, raw: raw)
  }

  /// Keeps a cursor in this tree at the place of the last read or write, where the next one by key
  /// then begins: a value that is read is often written next, and the next key often lies on the
  /// same page. The cursor is kept until the transaction ends or a nested one begins.
  ///
  /// - Throws: the errors of `cursor`.
  public func pinCursor(in tree: Tree) throws {
    let number = Int(tree.handle)
    if number < places.count, places[number] != nil { return }
    try requireTree(tree)
    var cursor: OpaquePointer?
    let result = mdb_cursor_open(raw, tree.handle, &cursor)
    guard result == MDB_SUCCESS else {
      throw environment.failure(result, doing: "opening a cursor")
    }
    while places.count <= number { places.append(nil) }
    places[number] = cursor
  }

  /// Sets the value of a key.
  ///
  /// - Parameter ending: is stored, little-endian, in place of the last four bytes of the value.
  /// - Throws: `StorageError` with `.keyInvalid`, `.valueTooLarge`, `.mapFull`; `.programming` if
  ///   the tree is not in the store.
  public func put(
    _ tree: Tree, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer,
    ending: UInt32? = nil
  ) throws {
    let result = try store(tree, key, value, ending: ending, flags: 0)
    guard result == MDB_SUCCESS else { throw failed(result, key: key, valueCount: value.count) }
  }

  /// Adds an entry whose key is greater than every other. Pages are filled completely.
  ///
  /// - Throws: the errors of `put`; `.keyInvalid` also if the key is not the greatest.
  public func append(
    _ tree: Tree, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) throws {
    let result = try store(tree, key, value, flags: UInt32(MDB_APPEND))
    guard result == MDB_SUCCESS else { throw failed(result, key: key, valueCount: value.count) }
  }

  /// Adds an entry, as `append` does, if its key is greater than every other.
  ///
  /// - Parameter ending: as in `put`.
  /// - Returns: `false` if the key is not the greatest; nothing is changed then.
  /// - Throws: the errors of `put`.
  public func appendIfGreatest(
    _ tree: Tree, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer,
    ending: UInt32? = nil
  ) throws -> Bool {
    let result = try store(tree, key, value, ending: ending, flags: UInt32(MDB_APPEND))
    if result == MDB_KEYEXIST { return false }
    guard result == MDB_SUCCESS else { throw failed(result, key: key, valueCount: value.count) }
    return true
  }

  /// Adds an entry unless the tree has its key.
  ///
  /// - Returns: The value that the key has, valid until the next write; `nil` if the entry was
  ///   added.
  /// - Throws: the errors of `put`.
  public func insert(
    _ tree: Tree, key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) throws -> UnsafeRawBufferPointer? {
    try requireTree(tree)
    try recorder?.record(.put, tree, key: key, value: value)
    var keyValue = MDB_val(key)
    var valueValue = MDB_val(value)
    let flags = UInt32(MDB_NOOVERWRITE)
    // SAFETY: LMDB copies key and value and stores no pointer to them.
    let result =
      if let place = place(in: tree) {
        mdb_cursor_put(place, &keyValue, &valueValue, flags)
      } else {
        mdb_put(raw, tree.handle, &keyValue, &valueValue, flags)
      }
    if result == MDB_SUCCESS { return nil }
    recorder?.takeBackLast()
    if result == MDB_KEYEXIST { return UnsafeRawBufferPointer(valueValue) }
    throw failed(result, key: key, valueCount: value.count)
  }

  /// Removes a key.
  ///
  /// - Returns: true if it existed.
  @discardableResult
  public func delete(_ tree: Tree, key: UnsafeRawBufferPointer) throws -> Bool {
    try requireTree(tree)
    try recorder?.record(.delete, tree, key: key)
    var keyValue = MDB_val(key)
    let result =
      if let place = place(in: tree) {
        remove(&keyValue, at: place)
      } else {
        mdb_del(raw, tree.handle, &keyValue, nil)
      }
    if result == MDB_SUCCESS { return true }
    recorder?.takeBackLast()
    if result == MDB_NOTFOUND { return false }
    throw failed(result, key: key, valueCount: 0)
  }

  private func remove(_ key: inout MDB_val, at place: OpaquePointer) -> Int32 {
    var value = MDB_val()
    let found = mdb_cursor_get(place, &key, &value, MDB_SET)
    return found == MDB_SUCCESS ? mdb_cursor_del(place, 0) : found
  }

  /// Removes every entry of a tree.
  ///
  /// - Complexity: O(pages), not O(entries).
  public func empty(_ tree: Tree) throws { try empty(tree, recordingAs: .empty) }

  private func empty(_ tree: Tree, recordingAs operation: TreeOperation) throws {
    try requireTree(tree)
    try recorder?.record(operation, tree)
    let result = mdb_drop(raw, tree.handle, 0)
    guard result == MDB_SUCCESS else {
      recorder?.takeBackLast()
      throw remember(environment.failure(result, doing: "emptying a tree"))
    }
  }

  /// Empties a tree now, and removes its name after the commit.
  ///
  /// Older snapshots still see the tree. A crash between the two leaves an empty tree.
  // LMDB's own drop closes the handle at once and for everyone, so that older snapshots of this
  // process would read an empty tree, or memory that was freed.
  public func drop(_ tree: Tree) throws {
    try empty(tree, recordingAs: .drop)
    droppedTrees.insert(tree.name)
  }

  /// Runs `body` in a transaction within this one. If it throws, its changes are undone and this
  /// transaction continues; otherwise they become changes of this transaction. This one must not be
  /// used while `body` runs (that traps).
  public func nested<R>(_ body: (TreeWriter) throws -> R) throws -> R {
    forgetPlaces()
    let parentHandle = raw
    var handle: OpaquePointer?
    let begun = mdb_txn_begin(environment.raw, parentHandle, 0, &handle)
    guard begun == MDB_SUCCESS, let handle else {
      throw environment.failure(begun, doing: "begin of a nested transaction")
    }
    let child = TreeWriter(environment: environment, raw: handle, parent: self)
    child.writeCount = writeCount &+ 1
    // Greater than all numbers of the nested transaction, whose pages may be gone.
    defer { writeCount = child.writeCount &+ 1 }
    self.handle = nil
    defer { self.handle = parentHandle }
    recorder?.beginNested()
    var keepsChanges = false
    defer { recorder?.endNested(keepsChanges: keepsChanges) }
    let value: R
    do {
      value = try body(child)
    } catch {
      mdb_txn_abort(child.end())
      throw error
    }
    let committed = mdb_txn_commit(child.end())
    guard committed == MDB_SUCCESS else {
      throw child.firstFailure ?? environment.failure(committed, doing: "nested commit")
    }
    keepsChanges = true
    createdTrees = child.createdTrees
    droppedTrees = child.droppedTrees
    known = child.known
    return value
  }

  private func store(
    _ tree: Tree, _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer,
    ending: UInt32? = nil, flags: UInt32
  ) throws -> Int32 {
    try requireTree(tree)
    try recorder?.record(
      flags == 0 ? .put : .append, tree, key: key, value: value, ending: ending)
    var keyValue = MDB_val(key)
    var valueValue = MDB_val(value)
    let flags = ending == nil ? flags : flags | UInt32(MDB_RESERVE)
    // SAFETY: LMDB copies key and value and stores no pointer to them.
    let result =
      if let place = place(in: tree) {
        mdb_cursor_put(place, &keyValue, &valueValue, flags)
      } else {
        mdb_put(raw, tree.handle, &keyValue, &valueValue, flags)
      }
    if result != MDB_SUCCESS { recorder?.takeBackLast() }
    if let ending, result == MDB_SUCCESS, let room = valueValue.mv_data, value.count >= 4 {
      // SAFETY: LMDB has reserved as many bytes as the value has.
      room.copyMemory(from: value.baseAddress!, byteCount: value.count - 4)
      room.storeBytes(of: ending.littleEndian, toByteOffset: value.count - 4, as: UInt32.self)
    }
    return result
  }

  /// Counts a write. Checks once per transaction that the tree exists in the store: through a
  /// handle whose tree is gone, LMDB would write with the root of some older snapshot.
  @inline(__always)
  func requireTree(_ tree: Tree) throws {
    writeCount &+= 1
    let index = Int(tree.handle)
    if index < known.count, known[index] { return }
    try learn(tree)
  }

  private func learn(_ tree: Tree) throws {
    guard try environment.exists(tree.name, in: self) else {
      throw StorageError(
        .programming, "the tree is not in the store", context: [("tree", tree.name)],
        advice: "create it in this transaction first")
    }
    let index = Int(tree.handle)
    while known.count <= index { known.append(false) }
    known[index] = true
  }

  func failed(_ result: Int32, key: UnsafeRawBufferPointer, valueCount: Int) -> StorageError {
    if result == MDB_KEYEXIST {
      return StorageError(
        .keyInvalid, "an appended key is not greater than the last one", context: [],
        advice: "append in key order, or put")
    }
    if result == MDB_BAD_VALSIZE, (1...511).contains(key.count) {
      return StorageError(
        .valueTooLarge, "a value is larger than the store can hold",
        context: [("bytes", String(valueCount))], advice: "keep values below 4 GiB")
    }
    return remember(environment.failure(result, doing: "write"))
  }

  private func remember(_ error: StorageError) -> StorageError {
    if firstFailure == nil { firstFailure = error }
    return error
  }
}
