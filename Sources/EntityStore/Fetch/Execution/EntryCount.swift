import LMDB

/// Counts the entries of ranges of an index: few entries by stepping over them, many by the counts
/// of the pages that hold them, without reading the pages themselves.
struct EntryCount {
  private let tree: Tree
  private let transaction: ReadTransaction
  /// The number of entries that were stepped over.
  private(set) var entriesRead = 0

  /// The number of entries that are stepped over in the time that it takes to find the pages of the
  /// others.
  private static let steppedMax = 64

  init(of tree: Tree, in transaction: ReadTransaction) {
    self.tree = tree
    self.transaction = transaction
  }

  /// Returns the number of entries in a range.
  ///
  /// - Parameter enough: The number from which on an exact count is not needed.
  mutating func count(_ range: KeyRange, enough: Int) throws -> Int {
    var cursor = try transaction.transaction.cursor(tree)
    return try range.lower.withUnsafeBytes { lower in
      try count(from: try cursor.seek(atLeast: lower), range, enough: enough, &cursor)
    }
  }

  /// Returns the number of entries of a range from a position on.
  ///
  /// - Parameter first: The entry at the cursor, whose position is undefined afterwards.
  mutating func count(
    from first: Cursor.Entry?, _ range: KeyRange, enough: Int, _ cursor: inout Cursor
  ) throws -> Int {
    var count = 0
    var entry = first
    while let found = entry, range.isBelowUpper(found.key), count < enough {
      if count == EntryCount.steppedMax, let others = try countByPages(from: found.key, range) {
        return count + others
      }
      count += 1
      entriesRead += 1
      try transaction.countVisit()
      entry = try cursor.next()
    }
    return count
  }

  /// Counts by pages.
  ///
  /// - Returns: `nil` in a write transaction, whose own pages are not in the map, and if the pages
  ///   do not determine the number.
  private func countByPages(
    from lower: UnsafeRawBufferPointer, _ range: KeyRange
  ) throws -> Int? {
    guard let snapshot = transaction.transaction as? TreeReader else { return nil }
    let transaction = transaction
    guard let upper = range.upper else {
      return try snapshot.count(tree, from: lower, upTo: nil) { try transaction.countVisit() }
    }
    return try upper.withUnsafeBytes { upper in
      try snapshot.count(tree, from: lower, upTo: upper) { try transaction.countVisit() }
    }
  }
}
