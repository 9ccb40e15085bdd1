import EntityModel
import EntityStore

extension ResultsSnapshot {
  /// Returns this version with a difference applied to it, in the way of a collection view: rows
  /// are removed from their old places, then sections are deleted and inserted, then rows are
  /// inserted at their new places in ascending order, then updated rows are replaced. O(c · log n +
  /// sections) for c changes; a version with an offset or a limit takes O(n) the first time.
  ///
  /// - Throws: `invalidRequest` if the difference does not start from this version.
  public func applying(_ difference: ResultsDifference<T>) throws -> ResultsSnapshot {
    var rows = wholeRows
    var counts = sections.map(\.count)

    for (index, id) in difference.rows.compactMap(\.left).sorted(by: { $0.0 > $1.0 }) {
      guard let position = windowed.sections.position(of: index), position < rows.count,
        rows[position].id == id
      else { throw Self.misfit("no such row", at: index) }
      rows.remove(at: position)
      counts[index.section] -= 1
    }
    var list = try Self.sections(sections.map(\.name), counts, applying: difference.sections)

    let taken = difference.rows.compactMap(\.taken).sorted { $0.0 < $1.0 }
    for (index, _) in taken {
      guard list.indices ~= index.section else { throw Self.misfit("no such section", at: index) }
      list[index.section].count += 1
    }
    let new = SectionList(
      list.map { ResultsSection(name: $0.name, count: $0.count) },
      isSectioned: windowed.sections.isSectioned)
    for (index, row) in taken {
      guard let position = new.position(of: index), position <= rows.count
      else { throw Self.misfit("no such place", at: index) }
      rows.insert(row, at: position)
    }

    for case .update(_, let index, let row) in difference.rows {
      guard let position = new.position(of: index), rows[position].id == row.id
      else { throw Self.misfit("no such row", at: index) }
      rows.replace(at: position, with: row)
    }
    return ResultsSnapshot(
      WindowedRows(
        rows: OrderedRows(ascending: rows), range: 0..<rows.count, sections: new))
  }

  /// The rows in the window only.
  private var wholeRows: RankedRows<LiveRow<T>> {
    guard windowed.range.count < windowed.rows.count else { return windowed.rows.ranked }
    return RankedRows(Array(self))
  }

  private static func sections(
    _ names: [Value], _ counts: [Int], applying changes: [SectionChange]
  ) throws -> [(name: Value, count: Int)] {
    var list = Array(zip(names, counts))
    let deletions = changes.compactMap { change in
      if case .delete(let place, let name) = change { (place, name) } else { nil }
    }
    for (place, name) in deletions.sorted(by: { $0.0 > $1.0 }) {
      guard list.indices ~= place, list[place] == (name, 0) else {
        throw misfit("no such empty section", at: ResultsIndex(section: place, item: 0))
      }
      list.remove(at: place)
    }
    let insertions = changes.compactMap { change in
      if case .insert(let place, let name) = change { (place, name) } else { nil }
    }
    for (place, name) in insertions.sorted(by: { $0.0 < $1.0 }) {
      guard 0...list.count ~= place else {
        throw misfit("no place for a section", at: ResultsIndex(section: place, item: 0))
      }
      list.insert((name, 0), at: place)
    }
    return list.map { (name: $0.0, count: $0.1) }
  }

  private static func misfit(_ what: String, at index: ResultsIndex) -> StoreError {
    StoreError(
      .invalidRequest, "the difference does not begin with this snapshot",
      [("reason", what), ("at", index.description)],
      advice: "apply every difference once, in order, beginning with the first snapshot")
  }
}

extension ResultsChange {
  /// The old place that the change leaves.
  fileprivate var left: (ResultsIndex, ObjectID)? {
    switch self {
    case .delete(let index, let id): (index, id)
    case .move(let index, _, let row): (index, row.id)
    case .insert, .update: nil
    }
  }

  /// The new place that the change takes.
  fileprivate var taken: (ResultsIndex, LiveRow<T>)? {
    switch self {
    case .insert(let index, let row), .move(_, let index, let row): (index, row)
    case .delete, .update: nil
    }
  }
}
