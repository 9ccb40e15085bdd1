/// The pages of trees to which no root leads.
struct OrphanPages {
  private let reader: TreeReader
  private let free: FreePages
  private let trees: RecoveredTrees
  private let rows: RecoveredRows
  /// The tables of the rows that fit no table.
  private(set) var lost: [RecordLayout] = []
  /// All pages that were found.
  private(set) var pages: Set<Int> = []

  init(
    _ reader: TreeReader, _ free: FreePages, _ trees: RecoveredTrees, _ rows: RecoveredRows
  ) {
    self.reader = reader
    self.free = free
    self.trees = trees
    self.rows = rows
  }

  /// Writes the rows of each page into the table to which it belongs.
  mutating func assign() throws {
    for top in try tops() where !reader.used.contains(top) {
      let sample = try self.sample(of: top)
      guard !sample.rows.isEmpty else { continue }
      if let number = try tree(of: top, sample) {
        let layout = trees.trees[number].layout
        trees.add(try trees.read(top, into: layout), to: number)
      } else if sample.isOfRows {
        try addLost(top, width: sample.rows.map(\.count).max() ?? 0)
      }
    }
  }

  /// Returns the pages above which nothing is left, those with others below them first.
  private mutating func tops() throws -> [Int] {
    var children: Set<Int> = []
    var interiors: [Int] = []
    var leaves: [Int] = []
    for number in stride(from: 2, through: reader.pages.count, by: 1)
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
    let rows: [[Cell]]
  }

  /// Returns rows of the first leaf below a page.
  private func sample(of top: Int) throws -> Sample {
    var number = top
    for _ in 0..<20 {
      guard let page = try reader.pages.treePage(number) else { break }
      if page.kind.isLeaf {
        let contents = page.places.indices.lazy.compactMap { page.content(of: $0) }.prefix(20)
        return Sample(
          isOfRows: page.kind.isOfRows, firstID: contents.first?.rowID,
          rows: try contents.compactMap { try reader.record($0) })
      }
      number = page.child(before: 0) ?? page.lastChild
    }
    return Sample(isOfRows: false, firstID: nil, rows: [])
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
    guard root != nil || free.isComplete, sample.isOfRows || !trees.hasDamagedIndex else {
      return nil
    }
    let candidates = trees.trees.indices.compactMap { number -> (number: Int, likeness: Int)? in
      let tree = trees.trees[number]
      let likeness = tree.layout.likeness(to: sample.rows)
      guard likeness > 0, root == nil || tree.root == 0, tree.layout.key.isEmpty == sample.isOfRows,
        tree.gaps.contains(where: { $0.mayHave(sample.firstID) })
      else { return nil }
      return (number, likeness)
    }
    let best = candidates.filter { one in candidates.allSatisfy { $0.likeness <= one.likeness } }
    return best.count == 1 ? best[0].number : nil
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
  private mutating func addLost(_ top: Int, width: Int) throws {
    let name = "lost_and_found_\(width)"
    if let layout = lost.first(where: { $0.table.name == name }) {
      return try trees.readLost(top, into: layout)
    }
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
    try trees.readLost(top, into: layout)
    lost.append(layout)
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
