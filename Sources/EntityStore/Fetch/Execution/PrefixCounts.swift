import EntityModel
import LMDB

/// The numbers of entries of an index by the values of its leading parts.
struct PrefixCounts {
  private(set) var groups: [(values: [Value], count: Int)] = []
  private(set) var entriesRead = 0

  /// Counts the entries.
  ///
  /// - Parameter positions: The attributes of the leading parts, in the order in which their values
  ///   are requested.
  /// - Returns: `nil` if a key was truncated, or cannot be read: the records have to be read then.
  /// - Complexity: That of `EntryCount` for each group, of whose entries the first is decoded.
  init?(
    of positions: [Int], in index: IndexLayout, _ transaction: ReadTransaction
  ) throws {
    let reader = KeyReader(index)
    var entries = EntryCount(of: index.tree, in: transaction)
    var cursor = try transaction.transaction.cursor(index.tree)
    var entry = try cursor.first()
    while let first = entry {
      guard !index.isCut(first.key),
        let end = reader.end(ofParts: positions.count, first.key),
        let parts = reader.parts(of: first.key)
      else { return nil }
      var values: [Value] = []
      for position in positions {
        guard let part = index.parts.firstIndex(where: { $0.position == position }) else {
          return nil
        }
        values.append(parts[part].value)
      }
      let group = KeyRange(prefix: Array(first.key.prefix(end)))
      groups.append(
        (values, try entries.count(from: first, group, enough: .max, &cursor)))
      entry = try group.upper.flatMap { upper in
        try upper.withUnsafeBytes { try cursor.seek(atLeast: $0) }
      }
    }
    entriesRead = entries.entriesRead
  }
}

extension IndexLayout {
  /// Returns true if each record has one entry in the index that begins with the values of these
  /// attributes.
  func begins(with positions: [Int]) -> Bool {
    let leading = parts.prefix(positions.count)
    return isUsable && !isSparse && listPart == nil && leading.count == positions.count
      && Set(leading.map(\.position)) == Set(positions) && leading.allSatisfy(\.isDecodable)
  }
}
