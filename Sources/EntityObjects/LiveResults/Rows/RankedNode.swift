extension RankedRows {
  /// A leaf with elements, or a branch with children: never both.
  ///
  /// The arrays are the parts that versions share. Swift copies an array before a change if, and
  /// only if, another version holds it too.
  struct Node: Sendable {
    static var countMax: Int { 64 }
    static var countMin: Int { countMax / 2 }

    private(set) var elements: [Element] = []
    private(set) var children: [Node] = []
    /// The number of elements in or below the node.
    private(set) var count = 0

    init() {}

    init(elements: [Element]) {
      self.elements = elements
      count = elements.count
    }

    init(children: [Node]) {
      self.children = children
      count = children.reduce(0) { $0 + $1.count }
    }

    var isLeaf: Bool { children.isEmpty }
    /// The number of the node's own entries. Only a root may have fewer than `countMin`.
    var width: Int { isLeaf ? elements.count : children.count }

    /// The first element in or below the node. Only an empty root has none.
    var first: Element {
      var node = self
      while !node.isLeaf { node = node.children[0] }
      return node.elements[0]
    }

    /// Returns the child that holds the element at `offset`, and changes `offset` to that within
    /// the child. The offset after the last element belongs to the last child.
    func child(holding offset: inout Int) -> Int {
      var place = 0
      while place < children.count - 1, offset >= children[place].count {
        offset -= children[place].count
        place += 1
      }
      return place
    }
  }
}

extension RankedRows.Node {
  /// Inserts an element.
  ///
  /// - Returns: The right half, if the node became too wide.
  mutating func insert(_ element: Element, at rank: Int) -> Self? {
    count += 1
    if isLeaf {
      elements.insert(element, at: rank)
    } else {
      var offset = rank
      let place = child(holding: &offset)
      if let right = children[place].insert(element, at: offset) {
        children.insert(right, at: place + 1)
      }
    }
    return width > Self.countMax ? splitOff(at: width / 2) : nil
  }

  mutating func remove(at rank: Int) -> Element {
    count -= 1
    guard !isLeaf else { return elements.remove(at: rank) }
    var offset = rank
    let place = child(holding: &offset)
    let element = children[place].remove(at: offset)
    if children[place].width < Self.countMin { widen(place) }
    return element
  }

  mutating func replace(at rank: Int, with element: Element) {
    guard !isLeaf else { elements[rank] = element; return }
    var offset = rank
    let place = child(holding: &offset)
    children[place].replace(at: offset, with: element)
  }

  /// Joins a narrow child with a neighbor, and divides the result again if it is too wide.
  private mutating func widen(_ place: Int) {
    guard children.count > 1 else { return }
    let left = max(place - 1, 0)
    let right = children.remove(at: left + 1)
    children[left].append(right)
    let width = children[left].width
    if width > Self.countMax {
      let half = children[left].splitOff(at: width / 2)
      children.insert(half, at: left + 1)
    }
  }

  private mutating func append(_ other: Self) {
    elements += other.elements
    children += other.children
    count += other.count
  }

  private mutating func splitOff(at width: Int) -> Self {
    let right =
      isLeaf ? Self(elements: Array(elements[width...])) : Self(children: Array(children[width...]))
    // One of the two arrays is empty.
    elements.removeLast(min(right.width, elements.count))
    children.removeLast(min(right.width, children.count))
    count -= right.count
    return right
  }
}
