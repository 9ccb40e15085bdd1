/// Reads the trees of a file page by page, in the order of their keys, and remembers which pages
/// belong to a tree. Used by one thread.
final class TreeReader {
  enum Event {
    case cell(TreePage.Content)
    /// A page or a cell that cannot be read, with the bounds of what it had.
    case gap(TreeGap)
  }

  let pages: DatabasePages
  /// The pages of trees that have been read, and of their long records.
  private(set) var used: Set<Int> = []
  /// The pages that are of none of the trees that lead to them.
  private var shared: Set<Int> = []
  private let isCancelled: () -> Bool

  private static let depthMax = 40

  init(_ pages: DatabasePages, isCancelled: @escaping () -> Bool) {
    self.pages = pages
    self.isCancelled = isCancelled
  }

  /// Finds the pages to which more than one page leads, and that may be of each.
  ///
  /// One of them is wrong, and the rows would go into the table of the first one that is read.
  func findShared(_ roots: [Int]) throws {
    var parents = Dictionary(roots.map { ($0, 0) }) { one, _ in one }
    var next: [(page: TreePage, bounds: Bounds)] = try roots.compactMap {
      try pages.treePage($0).map { ($0, Bounds()) }
    }
    while let (page, bounds) = next.popLast() {
      if isCancelled() { throw CancellationError() }
      for (child, within) in children(of: page, bounds) {
        guard let found = try owned(child, page, within) else { continue }
        guard let parent = parents[child] else {
          parents[child] = page.number
          if !found.kind.isLeaf { next.append((found, within)) }
          continue
        }
        if parent != page.number { shared.insert(child) }
      }
    }
  }

  /// Calls the closure with the cells of a tree and with what cannot be read.
  ///
  /// - Parameter isOfRows: True for a tree of rows with row ids, false for one of an index.
  func read(root: Int, isOfRows: Bool, _ body: (Event) throws -> Void) throws {
    guard let page = try page(root, isOfRows), used.insert(root).inserted else {
      return try body(.gap(TreeGap(page: root)))
    }
    try visit(page, Bounds(), depth: 0, body)
  }

  /// Returns the values of a record; `nil` if its bytes are not all there, or not its own.
  ///
  /// - Parameter isSample: True for a record that will be read again.
  func record(_ content: TreePage.Content, isSample: Bool = false) throws -> [Cell]? {
    guard !content.local.isEmpty, content.byteCount <= pages.count * pages.header.pageSize else {
      return nil
    }
    var bytes = Array(content.local)
    var next = content.overflow
    var chain: Set<Int> = []
    while bytes.count < content.byteCount {
      guard next > 1, chain.insert(next).inserted, let page = try pages.bytes(of: next) else {
        return nil
      }
      let count = min(pages.usable - 4, content.byteCount - bytes.count)
      guard page.count >= 4 + count else { return nil }
      // A page of zeros was lost, unless the value was one of zeros.
      if bytes.last != 0, page.allSatisfy({ $0 == 0 }) { return nil }
      bytes += page[4..<(4 + count)]
      next = Int(page.bigEndian32(at: 0))
    }
    // The pages of a value end with it, and are of no other.
    guard chain.isEmpty || next == 0, chain.isDisjoint(with: used) else { return nil }
    if !isSample { used.formUnion(chain) }
    return StoredRecord(bytes, pages.header.textEncoding ?? .utf8)?.cells
  }

  private struct Bounds {
    /// The row ids are greater than this one.
    var after: Int64?
    /// The greatest row id.
    var upTo: Int64?

    func contain(_ id: Int64) -> Bool {
      after.map { id > $0 } ?? true && upTo.map { id <= $0 } ?? true
    }
  }

  private func page(_ number: Int, _ isOfRows: Bool) throws -> TreePage? {
    guard let page = try pages.treePage(number), page.kind.isOfRows == isOfRows else { return nil }
    return page
  }

  private func visit(
    _ page: TreePage, _ bounds: Bounds, depth: Int, _ body: (Event) throws -> Void
  ) throws {
    if isCancelled() { throw CancellationError() }
    if page.kind == .rowLeaf { return try visitLeaf(page, bounds, body) }
    let children = self.children(of: page, bounds)
    var isLeafLevel: Bool??
    for cell in 0...page.places.count {
      let isLast = cell == page.places.count
      if page.kind != .indexLeaf {
        let (child, within) = children[cell]
        if let found = try owned(child, page, within), depth < Self.depthMax,
          !shared.contains(child), used.insert(child).inserted
        {
          try visit(found, within, depth: depth + 1, body)
        } else {
          let isLeaf = if let isLeafLevel { isLeafLevel } else { try leafLevel(of: page) }
          isLeafLevel = isLeaf
          try body(
            .gap(TreeGap(page: child, isLeaf: isLeaf, after: within.after, upTo: within.upTo)))
        }
      }
      if !isLast, !page.kind.isOfRows {
        guard let content = page.content(of: cell) else {
          try body(.gap(TreeGap(rows: 1)))
          continue
        }
        try body(.cell(content))
      }
    }
    if page.hasHiddenCells {
      let isLeaf = page.kind.isLeaf ? true : nil
      try body(
        .gap(
          TreeGap(
            page: page.number, isLeaf: isLeaf, isRead: true,
            after: children.last?.bounds.after, upTo: bounds.upTo)))
    }
  }

  /// Returns the child of a page; `nil` if it cannot be that.
  private func owned(_ child: Int, _ parent: TreePage, _ bounds: Bounds) throws -> TreePage? {
    guard let found = try page(child, parent.kind.isOfRows), found.places.count > 0,
      mayBelong(found, bounds)
    else { return nil }
    return found
  }

  /// Returns false for a leaf with none of the row ids that its parent expects: it belongs to
  /// another place.
  private func mayBelong(_ page: TreePage, _ bounds: Bounds) -> Bool {
    page.kind != .rowLeaf
      || page.places.indices.contains { page.content(of: $0)?.rowID.map(bounds.contain) ?? false }
  }

  /// The children of an interior page with the bounds of their row ids, as far as these are in
  /// order.
  private func children(of page: TreePage, _ bounds: Bounds) -> [(page: Int, bounds: Bounds)] {
    guard !page.kind.isLeaf else { return [] }
    var children: [(page: Int, bounds: Bounds)] = []
    var after = bounds.after
    // The children from here on whose greatest row id is not known.
    var open = 0
    for cell in page.places.indices {
      children.append((page.child(before: cell) ?? 0, Bounds(after: after, upTo: bounds.upTo)))
      guard page.kind == .rowInterior, let id = page.separator(after: cell),
        Bounds(after: after, upTo: bounds.upTo).contain(id)
      else { continue }
      for child in open...cell { children[child].bounds.upTo = id }
      open = cell + 1
      after = id
    }
    return children + [(page.lastChild, Bounds(after: after, upTo: bounds.upTo))]
  }

  /// True if the readable children of a page are leaves; `nil` if none can be read.
  private func leafLevel(of page: TreePage) throws -> Bool? {
    let children = page.places.indices.compactMap { page.child(before: $0) } + [page.lastChild]
    for child in children {
      if let found = try self.page(child, page.kind.isOfRows) { return found.kind.isLeaf }
    }
    return nil
  }

  private func visitLeaf(
    _ page: TreePage, _ bounds: Bounds, _ body: (Event) throws -> Void
  ) throws {
    var after = bounds.after
    var unread = 0
    for cell in page.places.indices {
      guard let content = page.content(of: cell), let id = content.rowID,
        Bounds(after: after, upTo: bounds.upTo).contain(id)
      else {
        unread += 1
        continue
      }
      if unread > 0 {
        try body(.gap(TreeGap(rows: unread, after: after, upTo: id &- 1)))
        unread = 0
      }
      after = id
      try body(.cell(content))
    }
    if unread > 0 { return try body(.gap(TreeGap(rows: unread, after: after, upTo: bounds.upTo))) }
    if page.hasHiddenCells {
      try body(
        .gap(
          TreeGap(
            page: page.number, isLeaf: true, isRead: true, after: bounds.after, upTo: bounds.upTo)))
    }
  }
}

/// A part of a tree that cannot be read.
struct TreeGap {
  /// The page; `nil` for cells of a page that can be read, and 0 if it is not known.
  var page: Int?
  /// True if the page was a leaf; `nil` if that is not known.
  var isLeaf: Bool?
  /// True for a page whose other cells were read.
  var isRead = false
  /// The number of cells, in a page that can be read.
  var rows = 0
  /// The bounds of the row ids: greater than `after` and at most `upTo`.
  var after: Int64?
  var upTo: Int64?
  /// The rows before and after it, in a tree of keys.
  var keys: (before: [Cell]?, after: [Cell]?)
}
