import Glibc

extension TreeReader {
  /// Counts the entries from one key up to, but not including, another by their pages: each leaf
  /// has a number of entries, and only the leaves at the two ends are searched. LMDB itself can
  /// only step from one entry to the next.
  ///
  /// - Parameter upper: `nil` for the end of the tree.
  /// - Parameter visit: Called regularly; ends the count by throwing.
  /// - Returns: `nil` if the pages do not show the number, because the tree has integer keys or is
  ///   damaged. The caller then steps from entry to entry, and finds the number or the damage.
  /// - Complexity: Reads the header of each page of the range, which takes a seventieth of the time
  ///   of stepping over its entries.
  public func count(
    _ tree: Tree, from lower: UnsafeRawBufferPointer, upTo upper: UnsafeRawBufferPointer?,
    visit: () throws -> Void
  ) throws -> Int? {
    guard let record = try environment.record(of: tree.name, in: self) else { return 0 }
    guard let pages = TreePages(record, in: environment), var count = RangeCount(pages) else {
      return nil
    }
    return try count.entries(from: lower, upTo: upper, visit)
  }
}

/// A count by pages. No more pages are read than the tree has.
private struct RangeCount {
  private let pages: TreePages
  private var pagesLeft: UInt64

  init?(_ pages: TreePages) {
    guard pages.tree.flags & PageFormat.TreeFlag.orders == 0 else { return nil }
    self.pages = pages
    pagesLeft = pages.tree.branchPages &+ pages.tree.leafPages
  }

  mutating func entries(
    from lower: UnsafeRawBufferPointer, upTo upper: UnsafeRawBufferPointer?,
    _ visit: () throws -> Void
  ) throws -> Int? {
    if pages.tree.root == PageFormat.noPage { return 0 }
    if let upper, !TreePage.precedes(lower, upper) { return 0 }
    return try entries(of: pages.tree.root, level: 1, from: lower, upTo: upper, visit)
  }

  /// - Parameter lower: `nil` if the whole page is above it, and `upper` likewise.
  private mutating func entries(
    of number: UInt64, level: Int, from lower: UnsafeRawBufferPointer?,
    upTo upper: UnsafeRawBufferPointer?, _ visit: () throws -> Void
  ) throws -> Int? {
    let depth = Int(pages.tree.depth)
    let isLeaf = level == depth
    guard pagesLeft > 0, level <= depth, let page = pages.page(number, isLeaf: isLeaf) else {
      return nil
    }
    pagesLeft -= 1
    if isLeaf {
      guard let first = page.place(of: lower, otherwise: 0),
        let end = page.place(of: upper, otherwise: page.count)
      else { return nil }
      return max(0, end - first)
    }
    try visit()
    guard let first = page.child(of: lower, otherwise: 0),
      let last = page.child(of: upper, otherwise: page.count - 1), first <= last
    else { return nil }
    var sum = 0
    for place in first...last {
      guard let child = page.child(at: place),
        let entries = try entries(
          of: child, level: level + 1, from: place == first ? lower : nil,
          upTo: place == last ? upper : nil, visit)
      else { return nil }
      sum += entries
    }
    return sum
  }
}

extension TreePage {
  /// Returns the number of keys that are less than this one.
  ///
  /// - Returns: `nil` if a node is damaged.
  fileprivate func place(of key: UnsafeRawBufferPointer?, otherwise: Int) -> Int? {
    guard let key else { return otherwise }
    return place(from: 0) { TreePage.precedes($0, key) }
  }

  /// Returns the child that contains this key: the last one whose first key is not greater.
  fileprivate func child(of key: UnsafeRawBufferPointer?, otherwise: Int) -> Int? {
    guard let key else { return otherwise }
    // The first node's key stands for everything less than the second node's key.
    return place(from: 1) { !TreePage.precedes(key, $0) }.map { $0 - 1 }
  }

  /// Returns the first node, from a given one on, whose key does not pass the test.
  private func place(from first: Int, where passes: (UnsafeRawBufferPointer) -> Bool) -> Int? {
    var (low, high) = (first, count)
    while low < high {
      let middle = (low + high) / 2
      guard let key = key(at: middle) else { return nil }
      if passes(key) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  fileprivate static func precedes(
    _ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer
  ) -> Bool {
    let common = min(a.count, b.count)
    if common > 0, let left = a.baseAddress, let right = b.baseAddress {
      let order = memcmp(left, right, common)
      if order != 0 { return order < 0 }
    }
    return a.count < b.count
  }
}
