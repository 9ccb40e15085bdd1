import CMooringLMDB
import Glibc

/// The pages of one tree in a snapshot, read without LMDB. They lie in the map and do not change.
///
/// No number in a page is trusted: a page must have the kind that its place requires and lie in the
/// store, and nodes and values must lie in their pages. What is damaged is reported as `nil`.
struct TreePages {
  let tree: TreeRecord
  private let map: UnsafeRawPointer
  private let pageSize: Int
  private let lastPage: UInt64

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
  }

  /// - Returns: `nil` if the store has no such page.
  @inline(__always)
  func page(_ number: UInt64, isLeaf: Bool) -> TreePage? {
    guard number >= 2, number <= lastPage else { return nil }
    // SAFETY: the page is one of the store's, so it lies in the map; its first 16 bytes are the
    // header.
    let start = map + Int(number) * pageSize
    let kind = start.load(fromByteOffset: 10, as: UInt16.self)
    let lower = Int(start.load(fromByteOffset: 12, as: UInt16.self))
    guard start.load(as: UInt64.self) == number,
      kind == (isLeaf ? PageFormat.Kind.leaf : PageFormat.Kind.branch),
      lower > PageFormat.headerCount, lower <= pageSize, lower % 2 == 0
    else { return nil }
    return TreePage(start: start, pageSize: pageSize, count: (lower - PageFormat.headerCount) / 2)
  }

  /// Returns a value in pages of its own.
  func overflow(_ number: UInt64, count: Int) -> UnsafeRawBufferPointer? {
    guard number >= 2, number <= lastPage else { return nil }
    // SAFETY: as for a page; the value lies in the pages, and these in the store.
    let start = map + Int(number) * pageSize
    let pages = UInt64(start.load(fromByteOffset: 12, as: UInt32.self))
    guard start.load(as: UInt64.self) == number,
      start.load(fromByteOffset: 10, as: UInt16.self) == PageFormat.Kind.overflow,
      pages > 0, pages <= lastPage - number + 1,
      count <= Int(pages) * pageSize - PageFormat.headerCount
    else { return nil }
    return UnsafeRawBufferPointer(start: start + PageFormat.headerCount, count: count)
  }

  /// Loads the begin of a page into the cache of the processor, if it is one of the store's.
  @inline(__always)
  func prefetch(_ number: UInt64) {
    if number <= lastPage { mooring_prefetch(map + Int(number) * pageSize) }
  }

  /// The place at which an integer key is if the tree has it.
  private struct Place {
    let leaf: UInt64
    /// The node of the leaf, if the leaf has all keys from its first one on, as records that were
    /// inserted one after the other do.
    let node: Int
  }

  /// Returns the value of an integer key.
  ///
  /// - Returns: `nil` if there is none, or if the tree is damaged or has other keys. A lookup by
  ///   LMDB finds out which.
  func value(of key: UInt64) -> UnsafeRawBufferPointer? {
    place(of: key).flatMap { value(of: key, at: $0) }
  }

  /// Returns the place of an integer key. Its leaf is not read.
  @inline(__always)
  private func place(of key: UInt64) -> Place? {
    guard tree.flags & PageFormat.TreeFlag.orders == PageFormat.TreeFlag.integerKeys,
      tree.root != PageFormat.noPage
    else { return nil }
    var number = tree.root
    var first: UInt64?
    var levels = min(Int(tree.depth), PageFormat.depthMax)
    while levels > 1 {
      guard let child = child(of: number, for: key) else { return nil }
      number = child.page
      first = child.first ?? first
      levels -= 1
    }
    guard levels == 1 else { return nil }
    return Place(leaf: number, node: first.map { Int(clamping: key &- $0) } ?? 0)
  }

  /// Returns the page under a branch page that leads to an integer key, and the first key that the
  /// page may have; `nil` for the key if the branch page does not contain it.
  @inline(__always)
  private func child(of branch: UInt64, for key: UInt64) -> (page: UInt64, first: UInt64?)? {
    guard let page = page(branch, isLeaf: false),
      // The first node's key stands for everything less than the second node's key.
      let place = page.place(from: 1, where: { $0 <= key }), let child = page.child(at: place - 1)
    else { return nil }
    return (child, place > 1 ? page.integer(at: place - 1) : nil)
  }

  @inline(__always)
  private func value(of key: UInt64, at place: Place) -> UnsafeRawBufferPointer? {
    guard let page = page(place.leaf, isLeaf: true) else { return nil }
    if place.node < page.count, page.integer(at: place.node) == key {
      return page.entry(at: place.node, in: self)?.value
    }
    guard let node = page.place(from: 0, where: { $0 < key }), node < page.count,
      page.integer(at: node) == key
    else { return nil }
    return page.entry(at: node, in: self)?.value
  }
}

extension TreePages {
  /// Requests the pages that lookups of integer keys read, level by level.
  func request(_ keys: [UInt64], by prefetch: PagePrefetch) {
    guard tree.flags & PageFormat.TreeFlag.orders == PageFormat.TreeFlag.integerKeys,
      tree.root != PageFormat.noPage
    else { return }
    var paths = keys.map { (key: $0, page: tree.root) }
    for level in 1...max(1, min(Int(tree.depth), PageFormat.depthMax)) {
      let numbers = Set(paths.map(\.page)).filter { $0 <= lastPage }
      prefetch.request(numbers.map { map + Int($0) * pageSize }, pageSize: pageSize)
      if level == Int(tree.depth) { return }
      paths = paths.compactMap { path in
        child(of: path.page, for: path.key).map { (path.key, $0.page) }
      }
    }
  }

  /// Returns the values of integer keys, as `value(of:)` does. The memory of a leaf and of a value
  /// is loaded while the next keys are looked up, and not waited for key by key.
  func values(of keys: [UInt64]) -> [UnsafeRawBufferPointer?] {
    let places = keys.map { key in
      let place = place(of: key)
      if let place { prefetch(place.leaf) }
      return place
    }
    for place in places {
      if let place { page(place.leaf, isLeaf: true)?.prefetchNode(at: place.node) }
    }
    return zip(keys, places).map { key, place in place.flatMap { value(of: key, at: $0) } }
  }
}

/// One branch or leaf page in the map; see `PageFormat`.
struct TreePage {
  fileprivate let start: UnsafeRawPointer
  fileprivate let pageSize: Int
  /// The number of its nodes, at least one.
  let count: Int

  @inline(__always)
  func child(at place: Int) -> UInt64? {
    guard let node = node(at: place) else { return nil }
    let low = UInt64(node.loadUnaligned(as: UInt32.self))
    return low | UInt64(node.loadUnaligned(fromByteOffset: 4, as: UInt16.self)) << 32
  }

  @inline(__always)
  func key(at place: Int) -> UnsafeRawBufferPointer? {
    guard let node = node(at: place) else { return nil }
    let count = Int(node.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
    let key = PageFormat.nodeHeaderCount
    guard node - start + key + count <= pageSize else { return nil }
    return UnsafeRawBufferPointer(start: node + key, count: count)
  }

  /// Returns the key of a node in a tree of integer keys.
  @inline(__always)
  func integer(at place: Int) -> UInt64? {
    // SAFETY: as in `node(at:)`; the key lies in the page, too.
    let offset = Int(
      start.load(fromByteOffset: PageFormat.headerCount &+ 2 &* place, as: UInt16.self))
    // One comparison for both bounds: an offset before the first node becomes a large number.
    let room = pageSize &- PageFormat.headerCount &- PageFormat.nodeHeaderCount &- 8
    guard UInt(bitPattern: offset &- PageFormat.headerCount) <= UInt(bitPattern: room),
      start.loadUnaligned(fromByteOffset: offset &+ 6, as: UInt16.self) == 8
    else { return nil }
    return start.loadUnaligned(
      fromByteOffset: offset &+ PageFormat.nodeHeaderCount, as: UInt64.self)
  }

  /// Finds the leaf in which LMDB has found an entry of a snapshot, and the place of the entry.
  static func leaf(
    of entry: Cursor.Entry, pageSize: Int
  ) -> (page: TreePage, place: Int)? {
    guard let key = entry.key.baseAddress else { return nil }
    // SAFETY: keys lie in leaves, and a leaf begins at a multiple of the page size and is in the
    // map as a whole.
    let start = key - Int(bitPattern: key) % pageSize
    let lower = Int(start.load(fromByteOffset: 12, as: UInt16.self))
    guard start.load(fromByteOffset: 10, as: UInt16.self) == PageFormat.Kind.leaf,
      lower > PageFormat.headerCount, lower <= pageSize, lower % 2 == 0
    else { return nil }
    let page = TreePage(
      start: start, pageSize: pageSize, count: (lower - PageFormat.headerCount) / 2)
    let node = key - PageFormat.nodeHeaderCount
    guard let place = (0..<page.count).first(where: { page.node(at: $0) == node }) else {
      return nil
    }
    return (page, place)
  }

  /// Returns the entry of a node of a leaf.
  @inline(__always)
  func entry(at place: Int, in pages: TreePages) -> Cursor.Entry? {
    if let entry = entry(at: place) { return entry }
    guard let node = node(at: place) else { return nil }
    let header = node.loadUnaligned(as: UInt64.self)
    let key = UnsafeRawBufferPointer(
      start: node + PageFormat.nodeHeaderCount, count: Int(header >> 48))
    // SAFETY: key and page number are read only if they lie in the page.
    let value = node + (PageFormat.nodeHeaderCount + key.count)
    guard UInt16(truncatingIfNeeded: header >> 32) == PageFormat.NodeFlag.overflow,
      pageSize - (value - start) >= 8,
      let value = pages.overflow(
        value.loadUnaligned(as: UInt64.self), count: Int(header & 0xFFFF_FFFF))
    else { return nil }
    return Cursor.Entry(key: key, value: value)
  }

  /// Returns the entry of a node of a leaf.
  ///
  /// - Returns: `nil` if the value has pages of its own, or for a damaged node.
  @inline(__always)
  func entry(at place: Int) -> Cursor.Entry? {
    guard let node = node(at: place) else { return nil }
    let header = node.loadUnaligned(as: UInt64.self)
    let count = Int(header & 0xFFFF_FFFF)
    let key = UnsafeRawBufferPointer(
      start: node + PageFormat.nodeHeaderCount, count: Int(header >> 48))
    // SAFETY: key and value are returned only if they lie in the page.
    let value = node + (PageFormat.nodeHeaderCount + key.count)
    guard UInt16(truncatingIfNeeded: header >> 32) == 0, count <= pageSize - (value - start) else {
      return nil
    }
    return Cursor.Entry(key: key, value: UnsafeRawBufferPointer(start: value, count: count))
  }

  /// Returns the first node, from a given one on, whose key does not pass the test.
  ///
  /// - Returns: `nil` if a node is damaged.
  @inline(__always)
  func place(from first: Int, where passes: (UInt64) -> Bool) -> Int? {
    var (low, high) = (first, count)
    while low < high {
      let middle = (low &+ high) >> 1
      guard let key = integer(at: middle) else { return nil }
      if passes(key) { low = middle &+ 1 } else { high = middle }
    }
    return low
  }

  /// Loads the first bytes of all nodes into the cache of the processor.
  func prefetchNodes() {
    for place in 0..<count {
      guard let node = node(at: place) else { return }
      mooring_prefetch(node)
      mooring_prefetch(node + 64)
    }
  }

  /// Loads a node with up to 512 bytes of its value into the cache of the processor.
  @inline(__always)
  func prefetchNode(at place: Int) {
    guard place < count, let node = node(at: place) else { return }
    for offset in stride(from: 0, to: 576, by: 64) { mooring_prefetch(node + offset) }
  }

  /// - Parameter place: Less than `count`.
  @inline(__always)
  private func node(at place: Int) -> UnsafeRawPointer? {
    // SAFETY: the offsets of all nodes lie in the page; a node is returned only if its header does,
    // too.
    let offset = Int(
      start.load(fromByteOffset: PageFormat.headerCount + 2 * place, as: UInt16.self))
    guard offset >= PageFormat.headerCount, offset + PageFormat.nodeHeaderCount <= pageSize else {
      return nil
    }
    return start + offset
  }
}
