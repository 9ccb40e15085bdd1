import SystemSupport

/// A walk over the trees of one commit.
struct PageWalk {
  enum Kind {
    case freeList, main, named(String)

    var name: String {
      switch self {
      case .freeList: "(free list)"
      case .main: "(main)"
      case .named(let name): name
      }
    }
  }

  var findings: PageFindings
  /// The named trees, in the order of the main tree.
  private(set) var namedTrees: [(String, TreeRecord)] = []

  private let source: PageSource
  private let meta: MetaPage
  /// The number of pages that are complete in the file; later pages can only be free.
  private let pagesInFile: Int
  private var used = NumberSet()
  private var free = NumberSet()
  private var freeBeyondFile = 0
  /// The last commit that the free list has an entry of; `nil` if the list is empty.
  private(set) var lastFreeing: UInt64?
  /// True if an entry of the free list names fewer pages than it has room for.
  private(set) var hasShortFreeEntry = false
  /// True if the main tree holds something that is not the record of a tree.
  private(set) var hasPlainValue = false

  /// True if the last page that was ever used is neither free nor in use now.
  var hasLostLastPage: Bool {
    let last = Int64(bitPattern: meta.lastPage)
    return last > 1 && !used.contains(last) && !free.contains(last)
  }
  var usedCount: Int { used.count }
  var freeCount: Int { free.count }

  init(source: PageSource, meta: MetaPage, findings: PageFindings) throws(StorageError) {
    self.source = source
    self.meta = meta
    self.findings = findings
    pagesInFile = min(try source.byteCount() / meta.pageSize, Int(meta.lastPage) + 1)
  }

  /// True if every page after the end of the file is on the free list.
  static func endIsFree(
    of source: PageSource, meta: MetaPage, pagesInFile: Int
  ) throws(StorageError) -> Bool {
    var walk = try PageWalk(source: source, meta: meta, findings: PageFindings(limit: 0))
    _ = try walk.walkTree(.freeList, meta.freeList)
    return walk.findings.total == 0
      && walk.freeBeyondFile == Int(meta.lastPage) + 1 - pagesInFile
  }

  /// Walks a tree in key order and compares the counts with the tree's record.
  mutating func walkTree(_ kind: Kind, _ record: TreeRecord) throws(StorageError)
    -> PageFile.TreePages
  {
    var tree = Progress(kind: kind, record)
    defer { for page in tree.pages { page.deallocate() } }
    checkFlags(of: record, in: tree)
    if record.root == PageFormat.noPage {
      if record.depth != 0 { add("an empty tree has a depth of \(record.depth)", in: tree) }
    } else if !(1...PageFormat.depthMax).contains(Int(record.depth)) {
      add("the depth \(record.depth) is impossible", in: tree)
      return tree.counted
    } else {
      tree.pages = (0..<Int(record.depth)).map { _ in
        .allocate(byteCount: meta.pageSize, alignment: 8)
      }
      try walkPage(record.root, level: 0, &tree)
    }
    tree.counted.depth = Int(record.depth)
    compare("branch pages", tree.counted.branchPages, record.branchPages, in: tree)
    compare("leaf pages", tree.counted.leafPages, record.leafPages, in: tree)
    compare("overflow pages", tree.counted.overflowPages, record.overflowPages, in: tree)
    compare("entries", tree.counted.entries, record.entries, in: tree)
    return tree.counted
  }

  /// The state of the walk over one tree.
  private struct Progress {
    let kind: Kind
    let depth: Int
    /// True if keys are 8 bytes that sort as unsigned integers of the machine: in the free list and
    /// in trees created with `MDB_INTEGERKEY`.
    let hasIntegerKeys: Bool
    var counted: PageFile.TreePages
    /// The page buffers, one per level.
    var pages: [UnsafeMutableRawBufferPointer] = []
    var lastKey: [UInt8]?
    /// The separator of the branch above; the next key must not be less.
    var floor: [UInt8]?

    init(kind: Kind, _ record: TreeRecord) {
      self.kind = kind
      depth = Int(record.depth)
      hasIntegerKeys =
        switch kind {
        case .freeList: true
        case .main: false
        case .named: record.flags & PageFormat.TreeFlag.integerKeys != 0
        }
      counted = PageFile.TreePages(name: kind.name)
    }

    func precedes(_ left: [UInt8], _ right: [UInt8]) -> Bool {
      guard hasIntegerKeys else { return left.lexicographicallyPrecedes(right) }
      return PageWalk.number(left) < PageWalk.number(right)
    }
  }

  private static func number(_ key: [UInt8]) -> UInt64 {
    key.count < 8 ? 0 : key.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
  }

  private mutating func walkPage(
    _ number: UInt64, level: Int, _ tree: inout Progress
  ) throws(StorageError) {
    let isLeaf = level == tree.depth - 1
    guard claim(number, in: tree) else { return }
    let page = UnsafeRawBufferPointer(tree.pages[level])
    guard try readPage(number, into: tree.pages[level], in: tree),
      checkHeader(page, number, isLeaf ? PageFormat.Kind.leaf : PageFormat.Kind.branch, in: tree)
    else { return }
    let nodes: [PageNodes.Node]
    do throws(PageNodes.Flaw) {
      nodes = try PageNodes(page, isLeaf: isLeaf).nodes
    } catch {
      return add(error.text, page: number, in: tree)
    }
    if isLeaf {
      tree.counted.leafPages += 1
      if nodes.isEmpty { add("a leaf page is empty", page: number, in: tree) }
      for node in nodes { try visit(node, page, number, &tree) }
    } else {
      tree.counted.branchPages += 1
      if case .freeList = tree.kind, nodes.count == 1 {
        // LMDB itself allows branches with one child in the free list.
      } else if nodes.count < 2 {
        add("a branch page has \(nodes.count) children", page: number, in: tree)
      }
      for (index, node) in nodes.enumerated() {
        if index > 0 { enterBranch(Array(page[node.key]), number, &tree) }
        try walkPage(node.child, level: level + 1, &tree)
      }
    }
  }

  private mutating func enterBranch(_ key: [UInt8], _ number: UInt64, _ tree: inout Progress) {
    checkKeySize(key.count, number, in: tree)
    if let last = tree.lastKey, !tree.precedes(last, key) {
      add("a separator is not greater than the keys before it", page: number, in: tree)
    }
    if let floor = tree.floor, tree.precedes(key, floor) {
      add("separators are out of order", page: number, in: tree)
    }
    tree.floor = key
  }

  private mutating func visit(
    _ node: PageNodes.Node, _ page: UnsafeRawBufferPointer, _ number: UInt64,
    _ tree: inout Progress
  ) throws(StorageError) {
    let key = Array(page[node.key])
    checkKeySize(key.count, number, in: tree)
    if let last = tree.lastKey, !tree.precedes(last, key) {
      add("keys are out of order", page: number, in: tree)
    }
    if let floor = tree.floor, tree.precedes(key, floor) {
      add("a key is less than the separator above it", page: number, in: tree)
    }
    tree.floor = nil
    tree.lastKey = key
    tree.counted.entries += 1
    let payload = UnsafeRawBufferPointer(rebasing: page[node.payload])
    if node.flags & PageFormat.NodeFlag.tree != 0 {
      return found(payload, named: key, number, in: tree)
    }
    if case .main = tree.kind { hasPlainValue = true }
    guard node.flags & PageFormat.NodeFlag.overflow != 0 else {
      if case .freeList = tree.kind { release(payload, key: key, number, in: tree) }
      return
    }
    let first = payload.loadUnaligned(as: UInt64.self)
    try visitOverflow(first, valueCount: node.valueCount, key: key, &tree)
  }

  private mutating func found(
    _ payload: UnsafeRawBufferPointer, named key: [UInt8], _ number: UInt64, in tree: Progress
  ) {
    guard case .main = tree.kind, payload.count == PageFormat.treeRecordCount else {
      return add("a tree record is where none belongs", page: number, in: tree)
    }
    namedTrees.append((String(decoding: key, as: UTF8.self), TreeRecord(payload)))
  }

  /// Checks the overflow pages of a large value.
  private mutating func visitOverflow(
    _ first: UInt64, valueCount: Int, key: [UInt8], _ tree: inout Progress
  ) throws(StorageError) {
    guard claim(first, in: tree) else { return }
    // The leaf's buffer is in use, so the header is read into a separate one.
    let header = UnsafeMutableRawBufferPointer.allocate(
      byteCount: PageFormat.headerCount, alignment: 8)
    defer { header.deallocate() }
    guard try readPage(first, into: header, in: tree),
      checkHeader(UnsafeRawBufferPointer(header), first, PageFormat.Kind.overflow, in: tree)
    else { return }
    let count = Int(header.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
    let needed = (PageFormat.headerCount - 1 + valueCount) / meta.pageSize + 1
    // A smaller value may have replaced a larger one in place.
    guard count >= needed else {
      return add("a value has \(count) pages and needs \(needed)", page: first, in: tree)
    }
    tree.counted.overflowPages += count
    // Stops at the first page that is in use elsewhere, so that all runs together check each page
    // at most once more.
    for page in 1..<max(count, 1) where !claim(first + UInt64(page), in: tree) { return }
    if case .freeList = tree.kind {
      try releaseOverflow(first, valueCount: valueCount, key: key, in: tree)
    }
  }

  private mutating func releaseOverflow(
    _ first: UInt64, valueCount: Int, key: [UInt8], in tree: Progress
  ) throws(StorageError) {
    // The pages were claimed one by one, so the run lies in the file, which also bounds the memory.
    let value = UnsafeMutableRawBufferPointer.allocate(byteCount: valueCount, alignment: 8)
    defer { value.deallocate() }
    let offset = Int(first) * meta.pageSize + PageFormat.headerCount
    guard try source.read(into: value, at: offset) == valueCount else {
      return add("a value is cut short", page: first, in: tree)
    }
    release(UnsafeRawBufferPointer(value), key: key, first, in: tree)
  }

  /// Checks an entry of the free list: its key is the commit that freed the pages, its value their
  /// count and their numbers in descending order.
  private mutating func release(
    _ list: UnsafeRawBufferPointer, key: [UInt8], _ number: UInt64, in tree: Progress
  ) {
    if Self.number(key) > meta.transaction {
      add("pages were freed by a later commit", page: number, in: tree)
    }
    guard list.count >= 8, list.count % 8 == 0,
      list.loadUnaligned(as: UInt64.self) <= UInt64(list.count / 8 - 1)
    else { return add("an entry of the free list has an impossible size", page: number, in: tree) }
    lastFreeing = Self.number(key)
    if list.loadUnaligned(as: UInt64.self) < UInt64(list.count / 8 - 1) { hasShortFreeEntry = true }
    var last = UInt64.max
    for index in 0..<Int(list.loadUnaligned(as: UInt64.self)) {
      let page = list.loadUnaligned(fromByteOffset: 8 * (index + 1), as: UInt64.self)
      guard page < last, (2...meta.lastPage).contains(page) else {
        return add("the free list names page \(page) out of place", page: number, in: tree)
      }
      last = page
      let member = Int64(bitPattern: page)
      if used.contains(member) { add("the page is both free and used", page: page, in: tree) }
      guard free.insert(member) else {
        add("the page is free twice", page: page, in: tree)
        continue
      }
      if page >= UInt64(pagesInFile) { freeBeyondFile += 1 }
    }
  }

  // MARK: Checks of one page

  /// Marks a page as used by the tree.
  ///
  /// - Returns: `false` if the page cannot be used, which is reported as a problem.
  private mutating func claim(_ page: UInt64, in tree: Progress) -> Bool {
    guard (2...meta.lastPage).contains(page) else {
      add("page number \(page) is not in the store", in: tree)
      return false
    }
    guard page < UInt64(pagesInFile) else {
      add("the page is beyond the end of the file", page: page, in: tree)
      return false
    }
    guard used.insert(Int64(bitPattern: page)) else {
      add("the page is used twice", page: page, in: tree)
      return false
    }
    if free.contains(Int64(bitPattern: page)) {
      add("the page is both free and used", page: page, in: tree)
    }
    return true
  }

  private mutating func readPage(
    _ page: UInt64, into buffer: UnsafeMutableRawBufferPointer, in tree: Progress
  ) throws(StorageError) -> Bool {
    let count = try source.read(into: buffer, at: Int(page) * meta.pageSize)
    if count == buffer.count { return true }
    add("the page is cut short", page: page, in: tree)
    return false
  }

  private mutating func checkHeader(
    _ header: UnsafeRawBufferPointer, _ page: UInt64, _ kind: UInt16, in tree: Progress
  ) -> Bool {
    guard header.loadUnaligned(as: UInt64.self) == page else {
      add("the page bears another number", page: page, in: tree)
      return false
    }
    guard header.loadUnaligned(fromByteOffset: 10, as: UInt16.self) == kind else {
      add("the page is not of the kind that its place asks for", page: page, in: tree)
      return false
    }
    return true
  }

  private mutating func checkKeySize(_ count: Int, _ page: UInt64, in tree: Progress) {
    if tree.hasIntegerKeys, count != 8 {
      add("a key of \(count) bytes is in a tree of 8-byte keys", page: page, in: tree)
    }
  }

  private mutating func checkFlags(of record: TreeRecord, in tree: Progress) {
    // Only these bits have a meaning in a tree; the free list's record also has some of the
    // environment.
    let expected = tree.hasIntegerKeys ? PageFormat.TreeFlag.integerKeys : 0
    if record.flags & PageFormat.TreeFlag.orders != expected {
      add("the tree has duplicate values or an order of its own (unsupported)", in: tree)
    }
  }

  private mutating func compare(
    _ what: String, _ counted: Int, _ recorded: UInt64, in tree: Progress
  ) {
    if recorded != UInt64(counted) {
      add("\(counted) \(what) found, \(recorded) recorded", in: tree)
    }
  }

  private mutating func add(_ text: String, page: UInt64? = nil, in tree: Progress) {
    findings.add(text, page: page.map { Int(clamping: $0) }, tree: tree.kind.name)
  }
}
