/// The pages of trees to which no root leads.
struct OrphanPages {
  private let reader: TreeReader
  private let free: FreePages
  private let trees: RecoveredTrees
  private let rows: RecoveredRows
  private let isSchemaDamaged: Bool
  /// The tables of the rows that fit no table.
  private(set) var lost: [RecordLayout] = []
  /// The parts of such rows that cannot be read.
  private(set) var gaps: [TreeGap] = []
  /// The number of pages of a table without row ids, or of an index, that are of no known table.
  private(set) var keyedPages: Int64 = 0
  /// All pages that were found.
  private(set) var pages: Set<Int> = []

  init(
    _ reader: TreeReader, _ free: FreePages, _ trees: RecoveredTrees, _ rows: RecoveredRows,
    isSchemaDamaged: Bool
  ) {
    self.isSchemaDamaged = isSchemaDamaged
    self.reader = reader
    self.free = free
    self.trees = trees
    self.rows = rows
  }

  /// Writes the rows of each page into the table to which it belongs.
  mutating func assign() throws {
    for top in try tops() where !reader.used.contains(top) {
      let sample = try self.sample(of: top)
      guard !sample.rows.isEmpty else {
        pages.remove(top)
        continue
      }
      if let number = try tree(of: top, sample) {
        let layout = trees.trees[number].layout
        trees.add(try trees.read(top, into: layout), to: number)
      } else if sample.isOfRows {
        try addLost(top)
      } else {
        keyedPages += 1
      }
    }
  }

  /// Returns the pages above which nothing is left, those with others below them first.
  private mutating func tops() throws -> [Int] {
    var children: Set<Int> = []
    var interiors: [Int] = []
    var leaves: [Int] = []
    for number in stride(from: 2, through: reader.pages.inUse(reader.used), by: 1)
    where !reader.used.contains(number) && !free.pages.contains(number)
      && !reader.pages.isReserved(number)
    {
      guard let page = try reader.pages.treePage(number), !page.places.isEmpty else { continue }
      pages.insert(number)
      if page.kind.isLeaf {
        leaves.append(number)
      } else {
        interiors.append(number)
        children.insert(page.lastChild)
        children.formUnion(page.places.indices.compactMap { page.child(before: $0) })
      }
    }
    return interiors.filter { !children.contains($0) } + interiors.filter(children.contains)
      + leaves
  }

  private struct Sample {
    let isOfRows: Bool
    let firstID: Int64?
    let lastID: Int64?
    let rows: [[Cell]]
  }

  /// Returns rows of the first leaf below a page.
  private func sample(of top: Int) throws -> Sample {
    var number = top
    for _ in 0..<20 {
      guard let page = try reader.pages.treePage(number) else { break }
      if page.kind.isLeaf {
        let all = page.places.indices.compactMap { page.content(of: $0) }
        let contents = all.prefix(20)
        return Sample(
          isOfRows: page.kind.isOfRows, firstID: all.first?.rowID, lastID: all.last?.rowID,
          rows: try contents.compactMap { try reader.record($0, isSample: true) })
      }
      number = page.child(before: 0) ?? page.lastChild
    }
    return Sample(isOfRows: false, firstID: nil, lastID: nil, rows: [])
  }

  /// Returns the damaged table to which a page belongs; `nil` if there is none or more than one.
  private func tree(of top: Int, _ sample: Sample) throws -> Int? {
    let root = try root(of: top)
    if let root, let number = trees.trees.firstIndex(where: { $0.root == root }) {
      let layout = trees.trees[number].layout
      let fits = layout.key.isEmpty == sample.isOfRows && layout.likeness(to: sample.rows) > 0
      return fits ? number : nil
    }
    // Where it is not known which pages are free, deleted rows must not return.
    guard root != nil || free.isComplete,
      sample.isOfRows || !(trees.hasDamagedIndex || isSchemaDamaged)
    else { return nil }
    let candidates = try trees.trees.indices.compactMap { number -> (number: Int, likeness: Int)? in
      let tree = trees.trees[number]
      let likeness = tree.layout.likeness(to: sample.rows)
      guard likeness > 0, root == nil || tree.root == 0, tree.layout.key.isEmpty == sample.isOfRows,
        tree.gaps.contains(where: { $0.mayHave(sample.firstID) }), try !hasRows(of: sample, tree)
      else { return nil }
      return (number, likeness)
    }
    let best = candidates.filter { one in candidates.allSatisfy { $0.likeness <= one.likeness } }
    return best.count == 1 ? best[0].number : nil
  }

  /// True if a table has rows among those of a page, which is then one of another table.
  private func hasRows(of sample: Sample, _ tree: RecoveredTrees.Tree) throws -> Bool {
    guard let first = sample.firstID, let last = sample.lastID else { return false }
    let after = first == .min ? nil : first - 1
    return try rows.count(tree.layout, after: after, upTo: last) > 0
  }

  /// Returns the root above a page, if the file maps pages to their parents.
  private func root(of page: Int) throws -> Int? {
    var page = page
    for _ in 0..<20 {
      switch try reader.pages.use(of: page) {
      case .root: return page
      case .child(let parent): page = parent
      default: return nil
      }
    }
    return nil
  }

  /// Writes rows that fit no table, each with its page and its row id, into a table of all such
  /// rows with as many values.
  private mutating func addLost(_ top: Int) throws {
    try reader.read(root: top, isOfRows: true) { event in
      switch event {
      case .gap(let gap): gaps.append(gap)
      case .cell(let content):
        guard let id = content.rowID, let cells = try reader.record(content),
          cells.count <= Self.widthMax
        else { return gaps.append(TreeGap(rows: 1)) }
        try rows.insert(
          [.integer(Int64(top)), .integer(id)] + cells, rowID: nil,
          into: try lostTable(width: cells.count))
      }
    }
  }

  /// SQLite has tables of 2,000 columns at most, of which two are the page and the row id.
  private static let widthMax = 1_998

  private mutating func lostTable(width: Int) throws -> RecordLayout {
    if let layout = lost.first(where: { $0.fields.count == width + 2 }) { return layout }
    var name = "lost_and_found_\(width)"
    while trees.trees.contains(where: { $0.layout.table.name.lowercased() == name }) { name += "_" }
    let names = ["page", "id"] + (0..<width).map { "c\($0)" }
    let columns = names.map { SourceColumn(name: $0, declaredType: "", isRequired: false) }
    var table = SourceTable(
      name: name, kind: .table, columns: columns, hasRowID: true, primaryKey: [], rowIDAlias: nil,
      foreignKeys: [], uniqueKeys: [["page", "id"]])
    table.isLost = true
    let layout = RecordLayout(
      table,
      fields: names.map {
        RecordLayout.Field(name: $0, affinity: .blob, isRequired: false, missing: .null)
      })
    try rows.create(layout)
    lost.append(layout)
    return layout
  }
}

extension TreeGap {
  /// True if a page with this first row id may have been in the gap.
  fileprivate func mayHave(_ id: Int64?) -> Bool {
    guard page != nil else { return false }
    guard let id else { return true }
    return (after.map { id > $0 } ?? true) && (upTo.map { id <= $0 } ?? true)
  }
}
