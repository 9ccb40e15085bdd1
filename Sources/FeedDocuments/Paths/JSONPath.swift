/// A parsed expression of RFC 9535, such as `$.items[?@.type == 'a']`.
///
/// Supports the whole RFC: selectors, filters, and the functions `length`, `count`, `match`,
/// `search` and `value`. Two expressions are equal if their texts are, byte by byte.
struct JSONPath: Sendable {
  /// The largest size of an expression in bytes of UTF-8.
  static let textBytesMax = 4_096
  /// The deepest nesting of filters, parentheses and function calls.
  static let nestingMax = 16
  /// The largest number of segments in a query; each may use the stack once.
  static let segmentsMax = 64
  /// The largest number of steps of one evaluation, about one for each node visited: several times
  /// the nodes that a document may have, and still only seconds.
  static let workMax = 50_000_000
  /// The largest number of nodes that `nodes(in:)` returns.
  static let nodesMax = 2_000_000

  let text: String
  /// True if the expression consists of names and indexes only, so that it selects one node at
  /// most.
  var isSingular: Bool { query.isSingular }

  private let query: Query

  /// The names of the root's members that the expression selects first, in UTF-8.
  var firstNames: [[UInt8]] {
    guard let first = query.segments.first, !first.isDescendant else { return [] }
    return first.selectors.compactMap { selector in
      if case .name(let name) = selector { name } else { nil }
    }
  }

  /// Reads an expression. O(length).
  ///
  /// - Throws: `.syntax`, `.type` or `.tooComplex`, with the place.
  init(_ text: String) throws(JSONPathError) {
    var parser = try JSONPathParser(text)
    self.text = text
    query = try parser.parse()
  }

  /// Returns the selected nodes in the order of the RFC. A node selected twice is included twice.
  ///
  /// - Throws: `.tooMuchWork`, or `.tooManyNodes` beyond `nodesMax`.
  func nodes(
    in root: JSONValue, workMax: Int = Self.workMax
  ) throws(JSONPathError) -> [JSONValue] {
    var nodes: [JSONValue] = []
    var isFull = false
    try forEach(in: root, workMax: workMax) { node, _ in
      isFull = nodes.count == Self.nodesMax
      if !isFull { nodes.append(node) }
      return !isFull
    }
    guard !isFull else {
      throw JSONPathError(
        .tooManyNodes, "\(text) selects more than \(Self.nodesMax) nodes: select fewer")
    }
    return nodes
  }

  /// Calls `body` with each selected node and its place, until it returns false. Memory does not
  /// grow with the number of nodes.
  ///
  /// - Throws: `.tooMuchWork`, after which `body` may have seen some of the nodes.
  func forEach(
    in root: JSONValue, workMax: Int = Self.workMax, _ body: (JSONValue, JSONLocation) -> Bool
  ) throws(JSONPathError) {
    let evaluation = JSONPathEvaluation(root: root, workMax: workMax)
    _ = try evaluation.run(query, at: root) { node in body(node, evaluation.location) }
  }
}

extension JSONPath: Hashable {
  // `String` regards two encodings of é as equal; names of members are different then.
  static func == (left: JSONPath, right: JSONPath) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}

extension JSONPath: CustomStringConvertible {
  var description: String { text }
}
