/// A sequence whose versions share their nodes: a B+tree that stores the number of elements below
/// each node.
///
/// A copy takes O(1). A change after a copy creates new nodes on one path from the root, and leaves
/// the copy unchanged. Ranks count from 0; one out of range is a programming error, as with an
/// array.
struct RankedRows<Element: Sendable>: Sendable {
  private(set) var root: Node

  /// Creates a sequence of the elements in their order. O(n).
  init(_ elements: some Collection<Element>) {
    var level = Self.evenly(elements).map { Node(elements: Array($0)) }
    while level.count > 1 {
      level = Self.evenly(level).map { Node(children: Array($0)) }
    }
    root = level.first ?? Node()
  }

  var count: Int { root.count }

  /// Returns the element at a rank. O(log n).
  subscript(rank: Int) -> Element {
    let (elements, offset) = leaf(holding: rank)
    return elements[offset]
  }

  /// Inserts an element at a rank. O(log n).
  mutating func insert(_ element: Element, at rank: Int) {
    precondition(0...count ~= rank)
    guard let right = root.insert(element, at: rank) else { return }
    let left = root
    root = Node(children: [left, right])
  }

  /// Removes and returns the element at a rank. O(log n).
  @discardableResult
  mutating func remove(at rank: Int) -> Element {
    precondition(0..<count ~= rank)
    let element = root.remove(at: rank)
    if root.children.count == 1 { root = root.children[0] }
    return element
  }

  /// Replaces the element at a rank. O(log n).
  mutating func replace(at rank: Int, with element: Element) {
    precondition(0..<count ~= rank)
    root.replace(at: rank, with: element)
  }

  /// Returns the first rank whose element satisfies `predicate`, or `count`. All elements that
  /// satisfy it must come after all that do not. O(log n) calls.
  func firstRank(where predicate: (Element) -> Bool) -> Int {
    var node = root
    var before = 0
    while !node.isLeaf {
      // The child to search is the one before the first child that begins with a satisfying
      // element.
      let children = node.children
      let next = (1..<children.count).partitioned { predicate(children[$0].first) }
      for child in children[..<(next - 1)] { before += child.count }
      node = children[next - 1]
    }
    let elements = node.elements
    return before + elements.indices.partitioned { predicate(elements[$0]) }
  }

  /// Returns the elements of the leaf that holds a rank, and the place in it. O(log n).
  func leaf(holding rank: Int) -> (elements: [Element], offset: Int) {
    precondition(0..<count ~= rank)
    var node = root
    var offset = rank
    while !node.isLeaf { node = node.children[node.child(holding: &offset)] }
    return (node.elements, offset)
  }

  /// Divides the items into parts of nearly equal size, each at least half full unless there is
  /// only one.
  private static func evenly<C: Collection>(_ items: C) -> [C.SubSequence] {
    let parts = (items.count + Node.countMax - 1) / Node.countMax
    var rest = items[...]
    return (0..<parts).map { part in
      let size = rest.count / (parts - part)
      let next = rest.prefix(size)
      rest = rest.dropFirst(size)
      return next
    }
  }
}

extension RankedRows {
  /// Returns the elements at `ranks`, in order: O(log n) for the first, then O(1) for most.
  func elements(at ranks: Range<Int>) -> Run {
    precondition(ranks.lowerBound >= 0 && ranks.upperBound <= count)
    return Run(rows: self, rank: ranks.lowerBound, end: ranks.upperBound)
  }

  /// Consecutive elements. It holds one leaf and finds the next one by rank.
  struct Run: Sequence, IteratorProtocol {
    fileprivate let rows: RankedRows
    fileprivate var rank: Int
    fileprivate let end: Int
    private var leaf: [Element] = []
    private var offset = 0

    fileprivate init(rows: RankedRows, rank: Int, end: Int) {
      self.rows = rows
      self.rank = rank
      self.end = end
    }

    var underestimatedCount: Int { end - rank }

    mutating func next() -> Element? {
      guard rank < end else { return nil }
      if offset == leaf.count { (leaf, offset) = rows.leaf(holding: rank) }
      defer { (rank, offset) = (rank + 1, offset + 1) }
      return leaf[offset]
    }
  }
}

extension Range<Int> {
  /// Returns the first number that satisfies `predicate`, or the upper bound, by binary search. All
  /// numbers that satisfy it must come after all that do not.
  func partitioned(by predicate: (Int) -> Bool) -> Int {
    var (low, high) = (lowerBound, upperBound)
    while low < high {
      let middle = low + (high - low) / 2
      if predicate(middle) { high = middle } else { low = middle + 1 }
    }
    return low
  }
}
