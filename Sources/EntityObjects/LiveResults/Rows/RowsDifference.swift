import EntityModel

/// The difference of two versions, by ranks in the old and in the new rows.
///
/// Only the rows that are given as changed, and those at the edges of the windows, are read. The
/// places of unchanged rows are computed by counting, because these rows keep their order.
struct RowsDifference<Row: ResultsRow> {
  let old: WindowedRows<Row>
  let new: WindowedRows<Row>
  let sections: SectionsDifference
  /// The deleted rows by old rank, ascending.
  let deleted: [Int]
  /// The inserted rows by new rank, ascending.
  let inserted: [Int]
  /// The moved rows by new rank, ascending.
  let moved: [RankPair]
  let updated: [RankPair]

  init(
    from old: WindowedRows<Row>, to rows: OrderedRows<Row>, window: ResultsWindow,
    transitions: [RowTransition<Row.Key>]
  ) {
    let range = window.range(of: rows.count)
    let placed = transitions.map { $0.placed(from: old.rows, to: rows) }
    let oldChanged = RankSet(placed.compactMap(\.old))
    let newChanged = RankSet(placed.compactMap(\.new))

    // The unchanged rows, numbered without the others: those in the old window, the new one, and
    // both.
    let oldSpan = oldChanged.others(in: old.range)
    let newSpan = newChanged.others(in: range)
    let common = oldSpan.clamped(to: newSpan)
    var deleted = oldSpan.parts(outside: common).map(oldChanged.other)
    var inserted = newSpan.parts(outside: common).map(newChanged.other)

    // The rows in both windows. Those with the same key and section are as fixed as unchanged ones.
    var fixed: [RankPair] = []
    var loose: [RankPair] = []
    for place in placed {
      switch (place.old.within(old.range), place.new.within(range)) {
      case (nil, nil): continue
      case (let from?, nil): deleted.append(from)
      case (nil, let to?): inserted.append(to)
      case (let from?, let to?):
        let pair = RankPair(old: from, new: to, changesContent: place.changesContent)
        let (before, after) = (old.rows[from], rows[to])
        let isFixed = before.key == after.key && before.section == after.section
        if isFixed { fixed.append(pair) } else { loose.append(pair) }
      }
    }

    let sections = SectionsDifference(
      from: old.sections,
      leaving: (deleted + loose.map(\.old)).map { $0 - old.range.lowerBound },
      arriving: (inserted + loose.map(\.new)).map {
        (name: rows[$0].section, position: $0 - range.lowerBound)
      })
    let new = WindowedRows(rows: rows, range: range, sections: sections.new)

    // A loose row stays if it is in the same section, between the same fixed rows, and in order
    // with the other loose rows there.
    let oldAnchors = Anchors(
      changed: oldChanged, common: common, fixed: RankSet(fixed.map(\.old)))
    let newAnchors = Anchors(
      changed: newChanged, common: common, fixed: RankSet(fixed.map(\.new)))
    let candidates = loose.filter { pair in
      oldAnchors.count(before: pair.old) == newAnchors.count(before: pair.new)
        && sections.continued[new.index(ofRank: pair.new).section]
          == old.index(ofRank: pair.old).section
    }.sorted { $0.old < $1.old }
    let staying = longestAscending(candidates.map(\.new)).map { candidates[$0] }
    let stayingRanks = Set(staying.map(\.new))

    self.old = old
    self.new = new
    self.sections = sections
    self.deleted = deleted.sorted()
    self.inserted = inserted.sorted()
    moved = loose.filter { !stayingRanks.contains($0.new) }.sorted { $0.new < $1.new }
    updated = (fixed + staying).filter(\.changesContent).sorted { $0.new < $1.new }
  }
}

/// A row in both versions.
struct RankPair {
  let old: Int
  let new: Int
  /// True if the row counts as updated in case it stays in its place.
  let changesContent: Bool
}

/// The rows that are in both windows and keep their order: the unchanged and the fixed ones.
private struct Anchors {
  let changed: RankSet
  let common: Range<Int>
  let fixed: RankSet

  /// Returns the number of anchors before the row at a rank. O(log changes).
  func count(before rank: Int) -> Int {
    common.nearest(to: changed.others(before: rank)) + fixed.members(before: rank)
  }
}

extension Int? {
  fileprivate func within(_ range: Range<Int>) -> Int? {
    flatMap { range.contains($0) ? $0 : nil }
  }
}

extension Range<Int> {
  /// Returns the numbers before and after the part that this range has in common with `other`. If
  /// there is no such part, `other` counts as the empty range at the nearest bound.
  fileprivate func parts(outside other: Range<Int>) -> [Int] {
    let before = lowerBound..<nearest(to: other.lowerBound)
    let after = nearest(to: other.upperBound)..<upperBound
    return Array(before) + Array(after)
  }

  fileprivate func nearest(to number: Int) -> Int {
    Swift.min(Swift.max(number, lowerBound), upperBound)
  }
}
