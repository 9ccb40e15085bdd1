import EntityModel

/// Counts the rows of a damaged file that cannot be read, from the evidence in the file.
///
/// | Evidence                       | Count                                                       |
/// |--------------------------------|-------------------------------------------------------------|
/// | a row with a part that is lost | exact                                                       |
/// | an index with each row         | exact                                                       |
/// | an index with some rows        | at least those that were not read                           |
/// | a lost leaf                    | at least one row; at most the row ids between its neighbors |
/// | bytes of no cell in a page     | at most the row ids between its neighbors                   |
/// | Z_MAX, sqlite_sequence         | the end of the row ids                                      |
/// | the size of a page             | at most the rows that fit into the lost pages               |
struct LostRowCount {
  private let reader: TreeReader
  private let trees: RecoveredTrees
  private let rows: RecoveredRows
  private let orphans: OrphanPages
  private let isSchemaDamaged: Bool
  /// The number of lost pages that may have been leaves of any tree.
  private let unknownPages: Int64
  /// The greatest number of rows of a page.
  private let pageRowsMax: Int64

  init(
    _ reader: TreeReader, _ free: FreePages, _ trees: RecoveredTrees, _ rows: RecoveredRows,
    orphans: OrphanPages, isSchemaDamaged: Bool
  ) throws {
    self.reader = reader
    self.trees = trees
    self.rows = rows
    self.orphans = orphans
    self.isSchemaDamaged = isSchemaDamaged
    // The smallest cell has four bytes, and its place has two.
    pageRowsMax = Int64((reader.pages.usable - 8) / 6)
    let named = Set(trees.trees.flatMap(\.gaps).compactMap(\.page))
    var unknown: Int64 = 0
    for page in stride(from: 2, through: reader.pages.count, by: 1)
    where !reader.used.contains(page) && !free.pages.contains(page)
      && !orphans.pages.contains(page) && !named.contains(page) && !reader.pages.isReserved(page)
    {
      if try reader.pages.use(of: page) == .overflow { continue }
      // An empty leaf is one of a table without rows.
      if try reader.pages.treePage(page)?.places.isEmpty == true { continue }
      unknown += 1
    }
    let cut = max(0, reader.pages.stated - reader.pages.count)
    let isCut = { (page: Int) in page > reader.pages.count && page <= reader.pages.stated }
    unknownPages = unknown + Int64(max(0, cut - named.filter(isCut).count))
  }

  func all() throws -> [LostRows] {
    var all: [LostRows] = []
    for (number, tree) in trees.trees.enumerated() where !tree.gaps.isEmpty || tree.hasIndex {
      if let lost = try count(number) { all.append(lost) }
    }
    for layout in orphans.lost { all.append(try found(layout)) }
    if let unread = lostAndFound() { all.append(unread) }
    let strays = Int64(orphans.lost.count) + unknownPages
    if isSchemaDamaged, strays > 0 {
      all.append(
        LostRows(
          table: "sqlite_schema", atLeast: 0, atMost: strays,
          ranges: ["the list of tables is damaged: up to \(strays) tables may be missing"]))
    }
    return all
  }

  /// Returns the rows of no table that cannot be read.
  private func lostAndFound() -> LostRows? {
    LostRows(
      "lost_and_found",
      orphans.gaps.map { gap in
        guard gap.page != nil else {
          return Range(text: "rows", atLeast: Int64(gap.rows), atMost: Int64(gap.rows))
        }
        let pages = 1 + (gap.isLeaf == true ? 0 : unknownPages)
        return Range(text: "rows of a lost page", atLeast: 0, atMost: pages * pageRowsMax)
      })
  }

  private func found(_ layout: RecordLayout) throws -> LostRows {
    let name = layout.table.name
    let count = try rows.count(layout, after: nil, upTo: nil)
    let statement = try rows.connection.prepare("SELECT * FROM \(sqlName(name)) LIMIT 1")
    var example: [String] = []
    if try statement.step() {
      example = try layout.fields.indices.map { try statement.cell(Int32($0)).brief }
    }
    return LostRows(
      table: name, atLeast: count, atMost: count,
      ranges: [
        "\(count) rows of \(layout.fields.count - 2) columns, the first: "
          + "(\(example.joined(separator: ", ")))".onOneLine
      ], isFound: true)
  }

  private func count(_ number: Int) throws -> LostRows? {
    let tree = trees.trees[number]
    let known = try tree.hasIndex ? indexed(number) : []
    if tree.hasWholeIndex { return LostRows(tree.layout.table.name, known) }
    let counts =
      try tree.layout.key.isEmpty && tree.layout.rowIDName != nil
      ? merged(tree.gaps).compactMap { try count($0, tree) } : tree.gaps.map(countOfKeys)
    let name = tree.layout.table.name
    guard var lost = LostRows(name, counts) ?? LostRows(name, known) else { return nil }
    let atLeast = LostRowCount.sum(known.map(\.atLeast))
    lost.atLeast = max(lost.atLeast, atLeast)
    lost.atMost = max(lost.atMost, lost.atLeast)
    return lost
  }

  struct Range {
    let text: String
    let atLeast: Int64
    let atMost: Int64
  }

  // MARK: Row ids

  /// Returns the rows of an index that were not read.
  private func indexed(_ number: Int) throws -> [Range] {
    let layout = trees.trees[number].layout
    guard let name = layout.rowIDName else { return [] }
    let statement = try rows.connection.prepare(
      "SELECT id FROM \(RecoveredTrees.indexed(number)) WHERE id NOT IN "
        + "(SELECT \(sqlName(name)) FROM \(sqlName(layout.table.name))) ORDER BY id")
    var ranges: [(first: Int64, last: Int64, count: Int64)] = []
    while try statement.step() {
      let id = statement.integer(0)
      if let last = ranges.last, try rows.count(layout, after: last.last, upTo: id) == 0 {
        ranges[ranges.count - 1] = (last.first, id, last.count + 1)
      } else {
        ranges.append((id, id, 1))
      }
    }
    return ranges.map {
      Range(
        text: text(after: $0.first &- 1, upTo: $0.last), atLeast: $0.count, atMost: $0.count)
    }
  }

  /// Joins gaps that follow each other and that are of one sort.
  private func merged(_ gaps: [TreeGap]) -> [(gap: TreeGap, pages: Int64)] {
    var merged: [(gap: TreeGap, pages: Int64)] = []
    for gap in gaps {
      if let (last, pages) = merged.last, let end = last.upTo, end == gap.after, gap.upTo != nil,
        (last.page == nil) == (gap.page == nil), last.isLeaf == gap.isLeaf,
        last.isRead == gap.isRead
      {
        var whole = last
        whole.upTo = gap.upTo
        whole.rows += gap.rows
        merged[merged.count - 1] = (whole, pages + (gap.page == nil ? 0 : 1))
      } else {
        merged.append((gap, gap.page == nil ? 0 : 1))
      }
    }
    return merged
  }

  private func count(
    _ part: (gap: TreeGap, pages: Int64), _ tree: RecoveredTrees.Tree
  ) throws -> Range? {
    let gap = part.gap
    if part.pages == 0 { return try countOfCells(gap, tree) }
    var upTo = gap.upTo
    if upTo == nil, let most = trees.sequences[tree.layout.table.name],
      gap.after.map({ most > $0 }) ?? true
    {
      upTo = most
    }
    let read = try rows.count(tree.layout, after: gap.after, upTo: upTo)
    // Rows that were found nevertheless show that the page had no rows itself.
    let pages = gap.isLeaf == true ? part.pages : unknownPages + (read > 0 ? 0 : part.pages)
    let isRoot = gap.page == tree.root
    let atLeast = read > 0 || isRoot || gap.isRead || gap.page == 0 ? 0 : part.pages
    var atMost = pages * pageRowsMax
    if let after = gap.after, let upTo {
      let (span, overflows) = upTo.subtractingReportingOverflow(after)
      if !overflows { atMost = min(atMost, span - read) }
    }
    guard atMost > 0 || atLeast > 0 else { return nil }
    return Range(
      text: text(after: gap.after, upTo: upTo), atLeast: atLeast, atMost: max(atLeast, atMost))
  }

  /// Returns the rows of the unreadable cells of a page. With more cells than row ids are free
  /// between its other rows, the number of cells is itself damaged, and proves no lost row.
  private func countOfCells(_ gap: TreeGap, _ tree: RecoveredTrees.Tree) throws -> Range? {
    let text = text(after: gap.after, upTo: gap.upTo)
    let cells = Int64(gap.rows)
    if let after = gap.after, let upTo = gap.upTo {
      let (span, overflows) = upTo.subtractingReportingOverflow(after)
      let free = span &- (try rows.count(tree.layout, after: after, upTo: upTo))
      if !overflows, free < cells {
        return free > 0 ? Range(text: text, atLeast: 0, atMost: free) : nil
      }
    }
    let isBounded = gap.after != nil && gap.upTo != nil
    return Range(text: text, atLeast: isBounded ? cells : 0, atMost: cells)
  }

  private func text(after: Int64?, upTo: Int64?) -> String {
    switch (after, upTo) {
    case (nil, nil): "all rows"
    case (let after?, nil): "after row \(after)"
    case (nil, let upTo?): "up to row \(upTo)"
    case (let after?, let upTo?):
      after &+ 1 == upTo ? "row \(upTo)" : "rows \(after &+ 1) to \(upTo)"
    }
  }

  fileprivate static func sum(_ numbers: [Int64]) -> Int64 {
    numbers.reduce(0) {
      let (sum, overflows) = $0.addingReportingOverflow($1)
      return overflows ? .max : sum
    }
  }

  // MARK: Keys

  private func countOfKeys(_ gap: TreeGap) -> Range {
    let ends = (gap.keys.before.map(RowPosition.key), gap.keys.after.map(RowPosition.key))
    let text =
      switch ends {
      case (nil, nil): "all rows"
      case (let before?, nil): "after \(before)"
      case (nil, let after?): "before \(after)"
      case (let before?, let after?): "after \(before), before \(after)"
      }
    guard let page = gap.page else {
      return Range(text: text, atLeast: Int64(gap.rows), atMost: Int64(gap.rows))
    }
    let isRoot = ends.0 == nil && ends.1 == nil
    let pages = 1 + (gap.isLeaf == true ? 0 : unknownPages + orphans.keyedPages)
    return Range(
      text: text, atLeast: isRoot || gap.isRead || page == 0 ? 0 : 1, atMost: pages * pageRowsMax)
  }
}

extension LostRows {
  fileprivate init?(_ table: String, _ ranges: [LostRowCount.Range]) {
    if ranges.isEmpty { return nil }
    self.init(
      table: table, atLeast: LostRowCount.sum(ranges.map(\.atLeast)),
      atMost: LostRowCount.sum(ranges.map(\.atMost)),
      ranges: ranges.map {
        "\($0.text): " + ($0.atLeast == $0.atMost ? "\($0.atMost)" : "up to \($0.atMost)")
      })
  }
}
