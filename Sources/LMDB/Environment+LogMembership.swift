import SystemSupport

/// The beginning and the end of the order of a store's commits by a log.
extension Environment {
  /// Makes a log the order of the commits after this transaction: what the store has then is the
  /// beginning of the log. Every later write needs the log.
  ///
  /// - Parameter transaction: A transaction without a log.
  /// - Throws: `StorageError` with `.programming` if the store has a position in a log.
  public func beginLog(_ hub: UInt128, in transaction: TreeWriter) throws {
    guard try logPosition(in: transaction) == nil else {
      throw StorageError(
        .programming, "the store has a commit log already", context: [("path", folder)],
        advice: "leave its hub first")
    }
    try put(LogPosition(hub: hub), in: transaction)
  }

  /// Makes a store independent of its log. Called like `write`, with or without the log. When this
  /// returns, everything that the store has is on the device.
  ///
  /// - Parameter body: Changes of the same commit.
  /// - Throws: The errors of `write` without a log; nothing was changed then.
  public func endLog(_ body: (TreeWriter) throws -> Void) throws {
    try asOnlyWriter { writerLock in
      try writerLock.acquire(within: options.writerDeadline)
      defer { writerLock.release() }
      try preparedForWriting {
        try removeDropped()
        try writeHoldingLock { transaction in
          if let tree = try tree(named: PositionTree.name, in: transaction) {
            try transaction.drop(tree)
          }
          try body(transaction)
        }
      }
    }
  }
}
