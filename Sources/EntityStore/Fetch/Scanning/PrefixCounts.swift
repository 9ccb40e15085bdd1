import EntityModel
import LMDB

/// How many entries of an index have which values in its leading parts.
struct PrefixCounts {
  private(set) var groups: [(values: [Value], count: Int)] = []
  private(set) var entriesRead = 0

  /// - Parameter positions: Of the attributes of the leading parts, in the order in which their values
  ///   are asked for.
  /// - Returns: `nil` if a key was cut, or cannot be read: the records have to be asked then.
  /// - Complexity: O(*n*) for *n* entries, of which none is decoded but the first of each group.
  init?(
    of positions: [Int], in index: IndexLayout, _ transaction: ReadTransaction
  ) throws {
    let reader = KeyReader(index)
    var prefix: [UInt8] = []
    var cursor = try transaction.transaction.cursor(index.tree)
    var entry = try cursor.first()
    while let found = entry {
      try transaction.countVisit()
      let isKnown = prefix.withUnsafeBytes { LinkKey.begins(found.key, with: $0) }
      if groups.isEmpty || !isKnown {
        guard !index.isCut(found.key),
          let end = reader.end(ofParts: positions.count, found.key),
          let parts = reader.parts(of: found.key)
        else { return nil }
        prefix = Array(found.key.prefix(end))
        var values: [Value] = []
        for position in positions {
          guard let part = index.parts.firstIndex(where: { $0.position == position }) else {
            return nil
          }
          values.append(parts[part].value)
        }
        groups.append((values, 0))
      }
      groups[groups.count - 1].count += 1
      entriesRead += 1
      entry = try cursor.next()
    }
  }
}

extension IndexLayout {
  /// Whether each record has one entry in it, which holds the values of these attributes before all
  /// others.
  func begins(with positions: [Int]) -> Bool {
    let leading = parts.prefix(positions.count)
    return isUsable && !isSparse && listPart == nil && leading.count == positions.count
      && Set(leading.map(\.position)) == Set(positions) && leading.allSatisfy(\.isDecodable)
  }
}
