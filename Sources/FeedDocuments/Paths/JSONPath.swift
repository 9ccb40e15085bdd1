/// An expression of RFC 9535 that has been read and checked, such as `$.items[?@.type == 'a']`.
///
/// All of the RFC is there: selectors, filters, and the functions `length`, `count`, `match`,
/// `search` and `value`. Two expressions are equal if their texts are, byte by byte.
struct JSONPath: Sendable {
  /// Bytes of an expression, in UTF-8.
  static let textBytesMax = 4_096
  /// Filters, parentheses and function calls inside each other.
  static let nestingMax = 16
  /// Segments of one query, of which each may use the stack once.
  static let segmentsMax = 64
  /// Steps of one evaluation, where a step is about one node looked at: several times the nodes
  /// that a document may have, and still only seconds.
  static let workMax = 50_000_000
  /// Nodes that `nodes(in:)` gathers.
  static let nodesMax = 2_000_000

  let text: String
  /// Whether it selects one node at most, by its form: names and indexes only.
  var isSingular: Bool { query.isSingular }
  /// The patterns in it that are no I-Regexp, each with its place. They are no error by the RFC,
  /// they just never match; whoever wrote them wants to know.
  let patternProblems: [JSONPathError]

  private let query: Query

  /// Reads an expression. O(length).
  ///
  /// - Throws: `.syntax`, `.type` or `.tooComplex`, with the place.
  init(_ text: String) throws(JSONPathError) {
    var parser = try JSONPathParser(text)
    self.text = text
    query = try parser.parse()
    patternProblems = parser.patternProblems
  }

  /// The selected nodes, in the order of the RFC. One selected twice is there twice.
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

  /// The first selected node. No more of the document is looked at than it takes to find it.
  func first(in root: JSONValue, workMax: Int = Self.workMax) throws(JSONPathError) -> JSONValue? {
    var first: JSONValue?
    try forEach(in: root, workMax: workMax) { node, _ in
      first = node
      return false
    }
    return first
  }

  /// Gives the selected nodes to `body`, each with its place, until `body` returns false. Memory
  /// does not grow with the number of nodes.
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
  // Not by `String`, for which two spellings of é are the same; for members' names they are not.
  static func == (left: JSONPath, right: JSONPath) -> Bool {
    left.text.utf8.elementsEqual(right.text.utf8)
  }

  func hash(into hasher: inout Hasher) { hasher.combine(Array(text.utf8)) }
}

extension JSONPath: CustomStringConvertible {
  var description: String { text }
}
