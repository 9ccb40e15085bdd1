/// The old and the new key of a changed row; `nil` where it is not among the rows.
struct RowTransition<Key: Comparable & Sendable>: Sendable {
  let from: Key?
  let to: Key?
  /// True if the content may have changed, and not only the place.
  var changesContent = true

  /// Returns the ranks of the keys; `nil` for a key that no row has.
  func placed<Row: OrderedRow>(
    from old: OrderedRows<Row>, to new: OrderedRows<Row>
  ) -> (old: Int?, new: Int?, changesContent: Bool) where Row.Key == Key {
    (from.flatMap(old.rankIfPresent), to.flatMap(new.rankIfPresent), changesContent)
  }
}

extension RowTransition {
  /// Returns the transitions between two whole lists: rows with another key, section or content
  /// hash. O(n), and memory for the rows whose key is in one list only.
  static func transitions<Row: ResultsRow>(
    from old: OrderedRows<Row>, to new: OrderedRows<Row>
  ) -> [RowTransition] where Row.Key == Key {
    var transitions: [RowTransition] = []
    var left: [Int64: Row] = [:]
    var arrived: [Row] = []
    var oldRows = old.rows(at: 0..<old.count)
    var newRows = new.rows(at: 0..<new.count)
    var (before, after) = (oldRows.next(), newRows.next())
    while before != nil || after != nil {
      if let row = before, after.map({ row.key < $0.key }) ?? true {
        left[row.identity] = row
        before = oldRows.next()
      } else if let row = after, before.map({ row.key < $0.key }) ?? true {
        arrived.append(row)
        after = newRows.next()
      } else if let old = before, let new = after {
        let changesContent = old.contentHash != new.contentHash
        if changesContent || old.section != new.section {
          transitions.append(
            RowTransition(from: old.key, to: new.key, changesContent: changesContent))
        }
        (before, after) = (oldRows.next(), newRows.next())
      }
    }
    for row in arrived {
      let old = left.removeValue(forKey: row.identity)
      transitions.append(
        RowTransition(
          from: old?.key, to: row.key, changesContent: old?.contentHash != row.contentHash))
    }
    return transitions + left.values.map { RowTransition(from: $0.key, to: nil) }
  }
}
