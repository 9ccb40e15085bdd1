/// Evaluates queries in one document and counts the steps.
///
/// It is a class because nested queries share the count, and lives as long as one call. Its use of
/// the stack is bounded by the expression and does not grow with the depth of the document.
final class JSONPathEvaluation {
  /// Called with each selected node; returns false to stop the query.
  typealias Visit = (JSONValue) throws(JSONPathError) -> Bool

  /// The place of the current node of the outermost query.
  private(set) var location = JSONLocation()
  let root: JSONValue
  var patterns = JSONPathPatterns()
  private let workMax: Int
  private var work = 0

  init(root: JSONValue, workMax: Int) {
    self.root = root
    self.workMax = workMax
  }

  /// Visits the nodes that the query selects, from `node` or the root on. Returns false if stopped.
  func run(_ query: JSONPath.Query, at node: JSONValue, _ visit: Visit)
    throws(JSONPathError) -> Bool
  {
    try follow(query.segments[...], from: query.isAbsolute ? root : node, visit)
  }

  /// Adds to the count of steps, one for each node or 64 bytes visited.
  func charge(_ steps: Int) throws(JSONPathError) {
    guard steps <= workMax - work else {
      throw JSONPathError(
        .tooMuchWork,
        "gave up after \(workMax) steps: name the members that lead to the nodes "
          + "instead of .. and *"
      )
    }
    work += steps
  }

  private func follow(
    _ segments: ArraySlice<JSONPath.Segment>, from node: JSONValue, _ visit: Visit
  ) throws(JSONPathError) -> Bool {
    guard let segment = segments.first else { return try visit(node) }
    let rest = segments.dropFirst()
    return segment.isDescendant
      ? try descend(segment.selectors, then: rest, from: node, visit)
      : try select(segment.selectors, then: rest, in: node, visit)
  }

  /// Applies the selectors to the node and its descendants, parents first.
  private func descend(
    _ selectors: [JSONPath.Selector], then rest: ArraySlice<JSONPath.Segment>,
    from node: JSONValue, _ visit: Visit
  ) throws(JSONPathError) -> Bool {
    let depth = location.steps.count
    defer { location.steps.removeLast(location.steps.count - depth) }
    guard try select(selectors, then: rest, in: node, visit) else { return false }
    var open = [JSONSteps(of: node)]
    while !open.isEmpty {
      guard let (step, child) = open[open.count - 1].next() else {
        open.removeLast()
        if !open.isEmpty { location.steps.removeLast() }
        continue
      }
      try charge(1)
      // A scalar has nothing to select from.
      guard child.kind == .array || child.kind == .object else { continue }
      location.steps.append(step)
      guard try select(selectors, then: rest, in: child, visit) else { return false }
      open.append(JSONSteps(of: child))
    }
    return true
  }

  private func select(
    _ selectors: [JSONPath.Selector], then rest: ArraySlice<JSONPath.Segment>,
    in node: JSONValue, _ visit: Visit
  ) throws(JSONPathError) -> Bool {
    for selector in selectors {
      guard try select(selector, then: rest, in: node, visit) else { return false }
    }
    return true
  }

  private func select(
    _ selector: JSONPath.Selector, then rest: ArraySlice<JSONPath.Segment>,
    in node: JSONValue, _ visit: Visit
  ) throws(JSONPathError) -> Bool {
    try charge(1)
    switch selector {
    case .name(let name):
      guard let (name, value) = try member(name, of: node) else { return true }
      return try enter(.name(name), value, then: rest, visit)
    case .index(let index):
      guard let (position, element) = try element(index, of: node) else { return true }
      return try enter(.index(position), element, then: rest, visit)
    case .wildcard:
      for (step, child) in JSONSteps(of: node) {
        try charge(1)
        guard try enter(step, child, then: rest, visit) else { return false }
      }
    case .slice(let slice):
      for (position, element) in try elements(of: node, in: slice) {
        guard try enter(.index(position), element, then: rest, visit) else { return false }
      }
    case .filter(let condition):
      for (step, child) in JSONSteps(of: node) {
        try charge(1)
        guard try holds(condition, at: child) else { continue }
        guard try enter(step, child, then: rest, visit) else { return false }
      }
    }
    return true
  }

  /// Evaluates the remaining segments at a child.
  private func enter(
    _ step: JSONLocation.Step, _ node: JSONValue, then rest: ArraySlice<JSONPath.Segment>,
    _ visit: Visit
  ) throws(JSONPathError) -> Bool {
    location.steps.append(step)
    defer { location.steps.removeLast() }
    return try follow(rest, from: node, visit)
  }
}

/// Finds children and charges for the search.
extension JSONPathEvaluation {
  func member(
    _ name: [UInt8], of node: JSONValue
  ) throws(JSONPathError) -> (name: JSONValue, value: JSONValue)? {
    guard node.kind == .object else { return nil }
    try charge(node.count)
    return name.withUnsafeBytes { node.member(named: $0) }
  }

  /// Returns the element at that index, which counts from the end if it is negative, and its index
  /// from the beginning.
  func element(
    _ index: Int, of node: JSONValue
  ) throws(JSONPathError) -> (position: Int, element: JSONValue)? {
    guard node.kind == .array else { return nil }
    let position = index < 0 ? node.count + index : index
    guard position >= 0, position < node.count else { return nil }
    try charge(position)
    var elements = node.elements.dropFirst(position).makeIterator()
    return elements.next().map { (position, $0) }
  }

  /// Returns the elements of a slice by RFC 9535 section 2.3.4.2.2. The integers of an expression
  /// are too small to overflow.
  private func elements(
    of node: JSONValue, in slice: JSONPath.Slice
  ) throws(JSONPathError) -> [(position: Int, element: JSONValue)] {
    guard node.kind == .array, slice.step != 0 else { return [] }
    let (count, step) = (node.count, slice.step)
    func bound(_ index: Int, from lowest: Int, to highest: Int) -> Int {
      min(max(index < 0 ? count + index : index, lowest), highest)
    }
    let positions: StrideTo<Int>
    if step > 0 {
      let start = bound(slice.start ?? 0, from: 0, to: count)
      positions = stride(from: start, to: bound(slice.end ?? count, from: 0, to: count), by: step)
    } else {
      let start = bound(slice.start ?? count - 1, from: -1, to: count - 1)
      let end = slice.end.map { bound($0, from: -1, to: count - 1) } ?? -1
      positions = stride(from: start, to: end, by: step)
    }
    try charge(count)
    let wanted = Array(positions)
    var found: [(position: Int, element: JSONValue)] = []
    var ascending = (step > 0 ? wanted : wanted.reversed())[...]
    for (position, element) in node.elements.enumerated() {
      guard let next = ascending.first else { break }
      guard next == position else { continue }
      found.append((position, element))
      ascending.removeFirst()
    }
    return step > 0 ? found : found.reversed()
  }
}
