import SystemSupport

extension Environment {
  /// Returns a hash of the names and entries of all trees that a commit log orders. Stores at one
  /// position of a log have the same.
  ///
  /// - Complexity: O(size of the store).
  public func digest(in transaction: TreeTransaction) throws -> UInt128 {
    var digest: UInt128 = 0
    var buffer: [UInt8] = []
    buffer.reserveCapacity(Self.digestedTogether + 4_096)
    func append(_ part: UnsafeRawBufferPointer) {
      withUnsafeBytes(of: UInt64(part.count).littleEndian) { buffer.append(contentsOf: $0) }
      buffer.append(contentsOf: part)
      if buffer.count >= Self.digestedTogether { add() }
    }
    func add() {
      digest = buffer.withUnsafeBytes { LogPosition.chain(digest, after: $0) }
      buffer.removeAll(keepingCapacity: true)
    }
    try readingAhead {
      for name in try treeNames(in: transaction).sorted() {
        guard let tree = try tree(named: name, in: transaction) else { continue }
        Array(name.utf8).withUnsafeBytes { append($0) }
        var cursor = try transaction.cursor(tree)
        var entry = try cursor.first()
        while let found = entry {
          append(found.key)
          append(found.value)
          entry = try cursor.next()
        }
        add()
      }
    }
    return digest
  }

  private static let digestedTogether = 1 << 20
}
