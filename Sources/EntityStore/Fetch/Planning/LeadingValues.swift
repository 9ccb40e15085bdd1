import LMDB

/// The distinct values of an index's first part, found by seeking from each to the next.
enum LeadingValues {
  /// The maximum number of values for which a skip scan is worthwhile.
  static let countMax = 64

  /// Returns the values as a set.
  ///
  /// - Returns: `nil` if there are too many, or if one was truncated.
  /// - Complexity: O(*v* · log *n*) for *v* values.
  static func find(in index: IndexLayout, _ transaction: ReadTransaction) throws -> IntervalSet? {
    var components: [[UInt8]] = []
    var cursor = try transaction.transaction.cursor(index.tree)
    var entry = try cursor.first()
    while let found = entry {
      guard components.count < countMax, !index.isCut(found.key),
        let end = KeyReader(index).end(ofParts: 1, found.key)
      else { return nil }
      let bytes = Array(found.key.prefix(end))
      components.append(index.parts[0].isDescending ? bytes.map { ~$0 } : bytes)
      guard let next = KeyRange.successor(of: bytes) else { break }
      entry = try next.withUnsafeBytes { try cursor.seek(atLeast: $0) }
    }
    return IntervalSet(points: components)
  }
}
