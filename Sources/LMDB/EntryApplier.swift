import CMooringLMDB
import SystemSupport

/// Applies the entries of a commit log to a write transaction. After an error the transaction must
/// be aborted.
struct EntryApplier {
  /// The position after the last entry that is complete.
  private(set) var position: LogPosition
  /// The bytes that were applied of entries after the first one.
  private(set) var laterByteCount = 0
  private let transaction: TreeWriter
  /// The number of the last entry before the first one.
  private let start: UInt64
  /// The chain after the last part.
  private var chain: UInt128
  /// True if the next part is the first of an entry.
  private(set) var isBetweenEntries = true
  /// The named trees of the entry.
  private var trees: [NamedTree] = []

  private struct NamedTree {
    let name: String
    /// `nil` until the tree is created.
    var tree: Tree?
    var hasIntegerKeys = false
  }

  init(to transaction: TreeWriter, after position: LogPosition) {
    self.transaction = transaction
    self.position = position
    start = position.sequence
    chain = position.chain
  }

  /// Applies the next part. One of an entry before the position is skipped: another process of this
  /// machine has applied it since.
  ///
  /// - Throws: `StorageError` with `.damaged` if it is unreadable or does not fit; the errors of a
  ///   write.
  mutating func apply(_ part: LogPart) throws {
    if part.sequence <= position.sequence { return }
    guard part.sequence == position.sequence + 1 else { throw misfit("an entry is missing") }
    try part.bytes.withUnsafeBytes { bytes in
      var reader = try OperationReader(bytes, isFirst: isBetweenEntries)
      while let operation = try reader.next() { try apply(operation) }
      chain = LogPosition.chain(chain, after: bytes)
    }
    if position.sequence > start { laterByteCount += part.bytes.count }
    isBetweenEntries = part.chain != nil
    guard let expected = part.chain else { return }
    guard expected == chain else { throw misfit("its bytes do not match its chain") }
    position.sequence = part.sequence
    position.chain = chain
    trees = []
    try keepRefilledTrees()
  }

  /// Keeps the dropped trees that the entry has filled again: their names stay, as they did where
  /// the entry was written, even if a later entry of this transaction empties them.
  private func keepRefilledTrees() throws {
    let environment = transaction.environment
    for name in transaction.droppedTrees {
      guard let tree = try environment.tree(named: name, in: transaction) else { continue }
      let count = try transaction.statistics(ofHandle: tree.handle).entries
      if count > 0 { transaction.droppedTrees.remove(name) }
    }
  }

  /// Returns the position after the last part.
  func end() throws -> LogPosition {
    guard isBetweenEntries else {
      throw StorageError(
        .unreachable, "the commit log ended within an entry", advice: "try again")
    }
    return position
  }

  private mutating func apply(_ operation: OperationReader.Operation) throws {
    let number = operation.tree
    switch operation.kind {
    case .name: return try name(number, operation.key)
    case .create, .createWithIntegerKeys:
      guard number < trees.count else { throw misfit("a tree has no name") }
      let hasIntegerKeys = operation.kind == .createWithIntegerKeys
      trees[number].tree = try transaction.environment.createTree(
        named: trees[number].name, hasIntegerKeys: hasIntegerKeys, in: transaction)
      trees[number].hasIntegerKeys = hasIntegerKeys
      return
    default: break
    }
    guard number < trees.count, let tree = trees[number].tree else {
      throw misfit("a tree is missing")
    }
    guard !operation.kind.hasKey || !trees[number].hasIntegerKeys || operation.key.count == 8
    else { throw misfit("a key is no integer") }
    switch operation.kind {
    case .put: try transaction.put(tree, key: operation.key, value: operation.value)
    case .append:
      guard
        try transaction.appendIfGreatest(tree, key: operation.key, value: operation.value)
      else { throw misfit("an appended key is not the greatest") }
    case .delete:
      guard try transaction.delete(tree, key: operation.key) else {
        throw misfit("a key is missing")
      }
    case .empty: try transaction.empty(tree)
    case .drop: try transaction.drop(tree)
    case .name, .create, .createWithIntegerKeys: break
    }
  }

  private mutating func name(_ number: Int, _ bytes: UnsafeRawBufferPointer) throws {
    guard number == trees.count, !bytes.contains(0),
      let name = String(validating: bytes, as: UTF8.self), name != PositionTree.name
    else { throw misfit("the name of a tree is not valid") }
    let environment = transaction.environment
    let tree = try environment.tree(named: name, in: transaction)
    trees.append(
      NamedTree(
        name: name, tree: tree,
        hasIntegerKeys: try tree.map { try environment.hasIntegerKeys($0, in: transaction) }
          ?? false))
  }

  private func misfit(_ cause: String) -> StorageError {
    StorageError(
      .damaged, "an entry of the commit log does not fit the store",
      context: [("entry", String(position.sequence + 1)), ("cause", cause)],
      advice: "join the store to its hub again")
  }
}
