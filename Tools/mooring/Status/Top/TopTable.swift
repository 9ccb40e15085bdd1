import Console

/// A table of the screen: what a view lists.
struct TopTable {
  struct Column {
    let title: String
    let kind: TextTable.Column.Kind
    /// The columns with the greatest numbers are left out first on a narrow screen.
    let rank: Int

    init(_ title: String, rank: Int, _ kind: TextTable.Column.Kind = .text) {
      (self.title, self.rank, self.kind) = (title, rank, kind)
    }
  }

  struct Cell {
    /// The order of a column; cells without a value come last.
    enum Order: Comparable {
      case number(Double)
      case text(String)
      case missing
    }

    let text: String
    let order: Order

    init(_ text: String?) {
      self.text = (text ?? "").bounded
      order = text.map { .text($0.bounded.lowercased()) } ?? .missing
    }

    init(_ text: String, _ order: Double?) {
      self.text = text
      self.order = order.map { .number($0) } ?? .missing
    }

    init(_ number: Int) { self.init(Formatting.count(Int64(number)), Double(number)) }
  }

  struct Row {
    /// Names the subject of the row, which stays selected where it moves.
    let key: String
    let style: TopStyle
    let cells: [Cell]
    /// All that is known, by name.
    let details: [(name: String, value: String?)]

    func contains(_ text: String) -> Bool {
      if text.isEmpty { return true }
      let lowercased = text.lowercased()
      let texts = cells.map(\.text) + details.compactMap(\.value)
      return texts.contains { $0.bounded.lowercased().contains(lowercased) }
    }
  }

  struct Sort: Equatable {
    /// Nil for the order of the status, the worst first.
    var column: Int?
    var isReversed = false
  }

  let columns: [Column]
  var rows: [Row] = []
  /// The text of an empty table.
  let whenEmpty: String

  /// Returns the rows with a text in a cell or a detail, in an order.
  func rows(with text: String, by sort: Sort) -> [Row] {
    var found = rows.filter { $0.contains(text) }
    if let column = sort.column {
      // A stable sort: equal rows stay in the order of the status.
      let order = found.indices.sorted { a, b in
        let (first, second) = (found[a].cells[column].order, found[b].cells[column].order)
        if first == second { return a < b }
        if first == .missing || second == .missing { return second == .missing }
        return sort.isReversed ? second < first : first < second
      }
      found = order.map { found[$0] }
    } else if sort.isReversed {
      found.reverse()
    }
    return found
  }

  /// Returns the titles and the rows as lines of at most `width` columns. Columns that do not fit
  /// are left out.
  func lines(of rows: [Row], sort: Sort, width: Int) -> [String] {
    var shown = Array(columns.indices)
    while true {
      var table = TextTable(
        shown.map { TextTable.Column(title(of: $0, sort), columns[$0].kind) })
      for row in rows { table.append(shown.map { row.cells[$0].text }) }
      // The last line end is no line.
      let lines = table.text(width: width).split(
        separator: "\n", omittingEmptySubsequences: false
      ).dropLast().map(String.init)
      let fits = lines.allSatisfy { $0.displayWidth <= width }
      guard !fits, shown.count > 1, let least = shown.max(by: { rank(of: $0) < rank(of: $1) })
      else { return lines }
      shown.removeAll { $0 == least }
    }
  }

  private func rank(of column: Int) -> Int { columns[column].rank }

  private func title(of column: Int, _ sort: Sort) -> String {
    columns[column].title + (sort.column == column ? (sort.isReversed ? "↓" : "↑") : "")
  }
}
