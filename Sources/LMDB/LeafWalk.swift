import CMooringLMDB

/// The entries of all leaves of a tree in a snapshot, in key order, read from the pages themselves.
/// A cursor of LMDB takes a call for each entry, and waits for the memory of one after the other.
///
/// It must not outlive its transaction.
public struct LeafWalk: ~Copyable {
  /// The entries of one leaf, valid until the transaction ends.
  public struct Leaf {
    fileprivate let page: TreePage
    fileprivate let pages: TreePages

    public var count: Int { page.count }

    /// - Returns: `nil` if the entry is damaged.
    @inline(__always)
    public func entry(at place: Int) -> Cursor.Entry? { page.entry(at: place, in: pages) }
  }

  private let pages: TreePages
  private let environment: Environment
  /// The branches above the next leaf, each with the place of the next child.
  private var path: [(page: TreePage, next: Int)] = []
  /// The leaf after the one that was returned last, whose memory is on its way.
  private var ahead: TreePage?
  private var pagesLeft: UInt64
  private var leaves = 0
  /// The number of leaves after which a walk counts as long; see `MapReadAhead`.
  private let longWalk = MapReadAhead.stepsMin / 16
  /// True if the walk ended because a page is damaged.
  public private(set) var isDamaged = false

  init?(_ tree: Tree, in transaction: TreeReader) throws {
    environment = transaction.environment
    guard let record = try environment.record(of: tree.name, in: transaction),
      let pages = TreePages(record, in: environment)
    else { return nil }
    self.pages = pages
    pagesLeft = pages.tree.branchPages &+ pages.tree.leafPages
    if pages.tree.root == PageFormat.noPage { return }
    ahead = descend(to: pages.tree.root)
  }

  deinit {
    if leaves >= longWalk { environment.readAhead.end() }
  }

  /// Returns the next leaf.
  ///
  /// - Returns: `nil` at the end, and where a page is damaged.
  public mutating func next() -> Leaf? {
    guard let page = ahead else { return nil }
    leaves += 1
    if leaves == longWalk { environment.readAhead.begin(in: environment) }
    ahead = advance()
    ahead?.prefetchNodes()
    if let last = path.last, last.next < last.page.count, let child = last.page.child(at: last.next)
    {
      pages.prefetch(child)
    }
    return Leaf(page: page, pages: pages)
  }

  private mutating func advance() -> TreePage? {
    while let last = path.last {
      guard last.next < last.page.count else {
        path.removeLast()
        continue
      }
      path[path.count - 1].next += 1
      guard let child = last.page.child(at: last.next) else { return damaged() }
      return descend(to: child)
    }
    return nil
  }

  /// Returns the first leaf below a page.
  private mutating func descend(to page: UInt64) -> TreePage? {
    var number = page
    let depth = Int(pages.tree.depth)
    while true {
      let isLeaf = path.count + 1 == depth
      guard pagesLeft > 0, path.count < depth, let page = pages.page(number, isLeaf: isLeaf) else {
        return damaged()
      }
      pagesLeft -= 1
      if isLeaf { return page }
      guard let child = page.child(at: 0) else { return damaged() }
      path.append((page, 1))
      number = child
    }
  }

  private mutating func damaged() -> TreePage? {
    isDamaged = true
    path = []
    return nil
  }
}

extension TreeReader {
  /// Returns a walk over the leaves of a tree; `nil` for a tree that cannot be read so.
  public func leaves(of tree: Tree) throws -> LeafWalk? { try LeafWalk(tree, in: self) }
}
