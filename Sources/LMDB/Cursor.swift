import CMooringLMDB

/// A position in one tree. Entries come in the order of their key bytes (memcmp, shorter first).
///
/// A cursor must not outlive its transaction (that traps when the transaction ends). Every pointer
/// that it returns is valid until the transaction ends or, in a write transaction, until its next
/// write. Moving a cursor allocates nothing.
public struct Cursor: ~Copyable {
  /// A key with its value; both are valid until the transaction ends or writes.
  public struct Entry {
    public let key: UnsafeRawBufferPointer
    public let value: UnsafeRawBufferPointer
  }

  /// The handle; null for a tree that is not in the snapshot, which reads as empty.
  private let handle: OpaquePointer?
  private let tree: Tree
  private let transaction: TreeTransaction
  /// The transaction, if it can write.
  private let writer: TreeWriter?
  private var steps = 0
  /// The leaf from which a cursor of a snapshot takes the next entries without LMDB, which takes
  /// several times as long for each of them.
  private var leaf: TreePage?
  /// The place of the entry in the leaf.
  private var place = 0
  /// True while LMDB's position is on another entry of the leaf.
  private var isApart = false

  /// The step from which on entries are taken from leaves: many walks are shorter.
  private static let stepsMin = 2

  init(_ handle: OpaquePointer?, tree: Tree, transaction: TreeTransaction) {
    self.handle = handle
    self.tree = tree
    self.transaction = transaction
    writer = transaction as? TreeWriter
    transaction.openCursors += 1
  }

  deinit {
    transaction.openCursors -= 1
    if steps >= MapReadAhead.stepsMin { transaction.environment.readAhead.end() }
    // SAFETY: the transaction is still open: if it ends before its cursors, the program traps.
    if let handle { mdb_cursor_close(handle) }
  }

  /// Moves to the first entry and returns it; `nil` if the tree is empty.
  public mutating func first() throws -> Entry? { try move(MDB_FIRST) }
  /// Moves to the last entry and returns it; `nil` if the tree is empty.
  public mutating func last() throws -> Entry? { try move(MDB_LAST) }

  /// Moves to the next entry: to the first one if there is no position yet. Returns nil at the end,
  /// where the position stays on the last entry.
  public mutating func next() throws -> Entry? {
    try step(by: 1, MDB_NEXT)
  }

  /// Moves to the previous entry: to the last one if there is no position yet. Returns nil at the
  /// beginning.
  public mutating func previous() throws -> Entry? {
    try step(by: -1, MDB_PREV)
  }

  /// Moves to the entry with the least key that is not less than `key`.
  public mutating func seek(atLeast key: UnsafeRawBufferPointer) throws -> Entry? {
    key.isEmpty ? try first() : try move(MDB_SET_RANGE, to: key)
  }

  /// Moves to the entry with exactly this key.
  public mutating func seek(exactly key: UnsafeRawBufferPointer) throws -> Entry? {
    key.isEmpty ? nil : try move(MDB_SET_KEY, to: key)
  }

  /// Moves to the entry with the greatest key that is less than `key`.
  public mutating func seek(below key: UnsafeRawBufferPointer) throws -> Entry? {
    if key.isEmpty { return nil }
    return try move(MDB_SET_RANGE, to: key) == nil ? try last() : try previous()
  }

  /// Sets the value of a key and moves to it. Write transactions only.
  public mutating func put(
    key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) throws {
    try store(key, value, flags: 0)
  }

  /// Adds an entry whose key is greater than every other. Write transactions only.
  ///
  /// - Throws: `.keyInvalid` if the key is not the greatest.
  public mutating func append(
    key: UnsafeRawBufferPointer, value: UnsafeRawBufferPointer
  ) throws {
    try store(key, value, flags: UInt32(MDB_APPEND))
  }

  /// Removes the entry at the position; `next` then returns the entry after it. Write transactions
  /// only.
  public mutating func deleteCurrent() throws {
    let writer = try requireWriter()
    guard let handle else { return }
    if let recorder = writer.recorder {
      var key = MDB_val()
      var value = MDB_val()
      let found = mdb_cursor_get(handle, &key, &value, MDB_GET_CURRENT)
      guard found == MDB_SUCCESS else {
        throw writer.environment.failure(found, doing: "removal at a cursor")
      }
      try recorder.record(.delete, tree, key: UnsafeRawBufferPointer(key))
    }
    let result = mdb_cursor_del(handle, 0)
    guard result == MDB_SUCCESS else {
      writer.recorder?.takeBackLast()
      throw writer.environment.failure(result, doing: "removal at a cursor")
    }
  }

  @inline(__always)
  private mutating func step(by offset: Int, _ operation: MDB_cursor_op) throws -> Entry? {
    countStep()
    if let leaf {
      _ = transaction.raw  // traps on misuse
      let next = place + offset
      if next >= 0, next < leaf.count, let entry = leaf.entry(at: next) {
        place = next
        isApart = true
        return entry
      }
    }
    return try stepByLMDB(operation)
  }

  @inline(never)
  private mutating func stepByLMDB(_ operation: MDB_cursor_op) throws -> Entry? {
    try rejoin()
    let entry = try move(operation)
    if let entry, steps >= Cursor.stepsMin { takeLeaf(of: entry) }
    return entry
  }

  /// Moves LMDB's position to that of the cursor.
  private mutating func rejoin() throws {
    guard isApart, let handle, let found = leaf?.key(at: place) else { return }
    var key = MDB_val(found)
    var value = MDB_val()
    let result = mdb_cursor_get(handle, &key, &value, MDB_SET_KEY)
    // In a damaged tree, LMDB may find the key in another place, and the walk would never end.
    guard result == MDB_SUCCESS, key.mv_data == UnsafeMutableRawPointer(mutating: found.baseAddress)
    else {
      throw transaction.environment.failure(
        result == MDB_SUCCESS ? MDB_CORRUPTED : result, doing: "reading at a cursor")
    }
    isApart = false
  }

  /// Takes the entries after this one from its leaf. The pages of a writer change; those of a
  /// snapshot do not.
  private mutating func takeLeaf(of entry: Entry) {
    guard transaction is TreeReader else { return }
    var statistics = MDB_stat()
    guard mdb_env_stat(transaction.environment.raw, &statistics) == MDB_SUCCESS,
      let (page, place) = TreePage.leaf(of: entry, pageSize: Int(statistics.ms_psize))
    else { return }
    leaf = page
    self.place = place
  }

  @inline(__always)
  private mutating func countStep() {
    steps &+= 1
    if steps == MapReadAhead.stepsMin {
      transaction.environment.readAhead.begin(in: transaction.environment)
    }
  }

  @inline(__always)
  private mutating func move(_ operation: MDB_cursor_op) throws -> Entry? {
    try move(operation, MDB_val())
  }

  @inline(__always)
  private mutating func move(
    _ operation: MDB_cursor_op, to key: UnsafeRawBufferPointer
  ) throws -> Entry? {
    try move(operation, MDB_val(key))
  }

  /// Moves LMDB's position, and with it that of the cursor.
  @inline(__always)
  private mutating func move(_ operation: MDB_cursor_op, _ start: MDB_val) throws -> Entry? {
    _ = transaction.raw  // traps on misuse
    leaf = nil
    isApart = false
    guard let handle else { return nil }
    var key = start
    var value = MDB_val()
    let result = mdb_cursor_get(handle, &key, &value, operation)
    if result == MDB_SUCCESS {
      return Entry(key: UnsafeRawBufferPointer(key), value: UnsafeRawBufferPointer(value))
    }
    return try nothing(result)
  }

  /// Returns nil if there is no such entry, and throws if it could not be read.
  @inline(never)
  private func nothing(_ result: Int32) throws -> Entry? {
    if result == MDB_NOTFOUND { return nil }
    throw transaction.environment.failure(result, doing: "reading at a cursor")
  }

  private func store(
    _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, flags: UInt32
  ) throws {
    let writer = try requireWriter()
    guard let handle else { return }
    try writer.recorder?.record(flags == 0 ? .put : .append, tree, key: key, value: value)
    var keyValue = MDB_val(key)
    var valueValue = MDB_val(value)
    // SAFETY: LMDB copies key and value and keeps no pointer to them.
    let result = mdb_cursor_put(handle, &keyValue, &valueValue, flags)
    guard result == MDB_SUCCESS else {
      writer.recorder?.takeBackLast()
      throw writer.failed(result, key: key, valueCount: value.count)
    }
  }

  private func requireWriter() throws -> TreeWriter {
    _ = transaction.raw  // traps on misuse
    guard let writer else {
      preconditionFailure("a cursor of a read transaction cannot write")
    }
    try writer.requireTree(tree)
    return writer
  }
}
