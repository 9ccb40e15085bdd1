import CMooringLMDB
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
    guard var count = RangeCount(record, in: environment) else { return nil }
    return try count.entries(from: lower, upTo: upper, visit)
  }
}

/// A count by pages of a tree in a snapshot, whose pages lie in the map and do not change.
///
/// No number in a page is trusted: a page must have the kind that its place requires and lie in the
/// store, nodes must lie in their pages, and no more pages are read than the tree has.
private struct RangeCount {
  private let map: UnsafeRawPointer
  private let pageSize: Int
  private let lastPage: UInt64
  private let tree: TreeRecord
  private var pagesLeft: UInt64

  /// - Parameter record: The record from the tree of trees, in the map.
  init?(_ record: UnsafeRawBufferPointer, in environment: Environment) {
    guard record.count == PageFormat.treeRecordCount, let start = record.baseAddress else {
      return nil
    }
    var info = MDB_envinfo()
    var statistics = MDB_stat()
    guard mdb_env_info(environment.raw, &info) == MDB_SUCCESS,
      mdb_env_stat(environment.raw, &statistics) == MDB_SUCCESS
    else { return nil }
    pageSize = Int(statistics.ms_psize)
    lastPage = UInt64(info.me_last_pgno)
    // SAFETY: the record lies in a page of the map, which begins at a multiple of the page size and
    // contains its own number.
    let page = start - Int(bitPattern: start) % pageSize
    let number = page.load(as: UInt64.self)
    guard number <= lastPage else { return nil }
    map = page - Int(number) * pageSize
    tree = TreeRecord(record)
    pagesLeft = tree.branchPages &+ tree.leafPages
    guard tree.flags & PageFormat.TreeFlag.orders == 0 else { return nil }
  }

  mutating func entries(
    from lower: UnsafeRawBufferPointer, upTo upper: UnsafeRawBufferPointer?,
    _ visit: () throws -> Void
  ) throws -> Int? {
    if tree.root == PageFormat.noPage { return 0 }
    if let upper, !CountedPage.precedes(lower, upper) { return 0 }
    return try entries(of: tree.root, level: 1, from: lower, upTo: upper, visit)
  }

  /// - Parameter lower: `nil` if the whole page is above it, and `upper` likewise.
  private mutating func entries(
    of number: UInt64, level: Int, from lower: UnsafeRawBufferPointer?,
    upTo upper: UnsafeRawBufferPointer?, _ visit: () throws -> Void
  ) throws -> Int? {
    let isLeaf = level == Int(tree.depth)
    guard pagesLeft > 0, level <= Int(tree.depth),
      let page = CountedPage(map, number, pageSize, lastPage: lastPage, isLeaf: isLeaf)
    else { return nil }
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

/// One branch or leaf page in the map; see `PageFormat`.
private struct CountedPage {
  private let start: UnsafeRawPointer
  private let pageSize: Int
  private let isLeaf: Bool
  /// The number of its nodes; a branch has at least one.
  let count: Int

  /// - Returns: `nil` if the store has no such page.
  init?(
    _ map: UnsafeRawPointer, _ number: UInt64, _ pageSize: Int, lastPage: UInt64, isLeaf: Bool
  ) {
    guard (2...lastPage).contains(number) else { return nil }
    // SAFETY: the page is one of the store's, so it lies in the map; its first 16 bytes are the
    // header.
    start = map + Int(number) * pageSize
    let kind = start.load(fromByteOffset: 10, as: UInt16.self)
    let lower = Int(start.load(fromByteOffset: 12, as: UInt16.self))
    guard start.load(as: UInt64.self) == number,
      kind == (isLeaf ? PageFormat.Kind.leaf : PageFormat.Kind.branch),
      lower >= PageFormat.headerCount, lower <= pageSize, lower % 2 == 0
    else { return nil }
    self.pageSize = pageSize
    self.isLeaf = isLeaf
    count = (lower - PageFormat.headerCount) / 2
    if count == 0 { return nil }
  }

  /// Returns the number of keys that are less than this one.
  ///
  /// - Returns: `nil` if a node is damaged.
  func place(of key: UnsafeRawBufferPointer?, otherwise: Int) -> Int? {
    guard let key else { return otherwise }
    return place(from: 0) { CountedPage.precedes($0, key) }
  }

  /// Returns the child that contains this key: the last one whose first key is not greater.
  func child(of key: UnsafeRawBufferPointer?, otherwise: Int) -> Int? {
    guard let key else { return otherwise }
    // The first node's key stands for everything less than the second node's key.
    return place(from: 1) { !CountedPage.precedes(key, $0) }.map { $0 - 1 }
  }

  func child(at place: Int) -> UInt64? {
    guard let node = node(at: place) else { return nil }
    let low = UInt64(node.loadUnaligned(as: UInt32.self))
    return low | UInt64(node.loadUnaligned(fromByteOffset: 4, as: UInt16.self)) << 32
  }

  /// Returns the first node, from a given one on, whose key does not pass the test.
  private func place(from first: Int, where passes: (UnsafeRawBufferPointer) -> Bool) -> Int? {
    var low = first
    var high = count
    while low < high {
      let middle = (low + high) / 2
      guard let key = key(at: middle) else { return nil }
      if passes(key) { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private func key(at place: Int) -> UnsafeRawBufferPointer? {
    guard let node = node(at: place) else { return nil }
    let count = Int(node.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
    let key = PageFormat.nodeHeaderCount
    guard node - start + key + count <= pageSize else { return nil }
    return UnsafeRawBufferPointer(start: node + key, count: count)
  }

  /// - Parameter place: Less than `count`.
  private func node(at place: Int) -> UnsafeRawPointer? {
    // SAFETY: `init` has checked that the offsets of all nodes lie in the page; a node is returned
    // only if its header does, too.
    let offset = Int(
      start.load(fromByteOffset: PageFormat.headerCount + 2 * place, as: UInt16.self))
    guard offset >= PageFormat.headerCount, offset + PageFormat.nodeHeaderCount <= pageSize else {
      return nil
    }
    return start + offset
  }

  static func precedes(_ a: UnsafeRawBufferPointer, _ b: UnsafeRawBufferPointer) -> Bool {
    let common = min(a.count, b.count)
    if common > 0, let left = a.baseAddress, let right = b.baseAddress {
      let order = memcmp(left, right, common)
      if order != 0 { return order < 0 }
    }
    return a.count < b.count
  }
}
