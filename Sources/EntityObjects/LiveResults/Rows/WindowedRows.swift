import EntityModel

/// The window of the results within all rows that match: a request's offset and limit.
struct ResultsWindow: Hashable, Sendable {
  var offset = 0
  /// The largest number of results; `nil` for no limit.
  var limit: Int?

  /// Returns the ranks of the results among `count` rows.
  func range(of count: Int) -> Range<Int> {
    let start = min(max(offset, 0), count)
    return start..<start + min(max(limit ?? count, 0), count - start)
  }
}

/// One version of live results: all rows in order, the ranks of those in the window, and their
/// sections.
struct WindowedRows<Row: ResultsRow>: Sendable {
  let rows: OrderedRows<Row>
  let range: Range<Int>
  let sections: SectionList

  /// Returns the index of the row at a rank within the window.
  func index(ofRank rank: Int) -> ResultsIndex {
    sections.index(ofPosition: rank - range.lowerBound)
  }
}

extension WindowedRows {
  /// Computes the sections by a scan of the window. O(log n + window).
  init(rows: OrderedRows<Row>, window: ResultsWindow, isSectioned: Bool) {
    let range = window.range(of: rows.count)
    let sections =
      isSectioned
      ? SectionList(Self.sections(of: rows.rows(at: range)), isSectioned: true)
      : SectionList(undivided: range.count)
    self.init(rows: rows, range: range, sections: sections)
  }

  private static func sections(of rows: some Sequence<Row>) -> [ResultsSection] {
    var sections: [ResultsSection] = []
    for row in rows {
      if let last = sections.last, last.name == row.section {
        sections[sections.count - 1] = ResultsSection(name: last.name, count: last.count + 1)
      } else {
        sections.append(ResultsSection(name: row.section, count: 1))
      }
    }
    return sections
  }
}
