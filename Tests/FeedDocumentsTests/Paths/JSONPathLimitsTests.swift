import TestSupport
import Testing

@testable import FeedDocuments

/// Expressions and documents that try to use much time or to exhaust the stack.
@Suite struct JSONPathLimitsTests {
  private func nested(_ open: String, _ core: String, _ close: String, times: Int) -> String {
    String(repeating: open, count: times) + core + String(repeating: close, count: times)
  }

  @Test(arguments: [("(", "@", ")"), ("!(", "@.a", ")"), ("@[?", "@", "]"), ("length(", "@", ")")])
  func refusesDeepExpressions(open: String, core: String, close: String) {
    let last = open == "length(" ? " == 1]" : "]"
    #expect(pathError("$[?" + nested(open, core, close, times: 15) + last) == nil)
    for depth in [16, 600] {
      let error = pathError("$[?" + nested(open, core, close, times: depth) + last)
      #expect(error?.code == .tooComplex)
    }
  }

  @Test func refusesLongExpressions() {
    #expect(pathError("$['" + String(repeating: "a", count: 4_091) + "']") == nil)
    #expect(pathError("$['" + String(repeating: "a", count: 4_092) + "']")?.code == .tooComplex)
    #expect(pathError("$" + String(repeating: ".a", count: 64)) == nil)
    #expect(pathError("$" + String(repeating: ".a", count: 65))?.code == .tooComplex)
  }

  /// The largest use of the stack by an expression, in a document of the greatest depth.
  @Test func theDeepestExpressionFitsTheStack() throws {
    let document = nested("{\"a\":", "1", "}", times: 64)
    let inner = String(repeating: "..a", count: 20) + "..b"
    let path = try JSONPath("$" + nested("[?$\(inner)", "", "]", times: 16))
    try withJSON(document) { root in
      _ = #expect(throws: JSONPathError.self) { try path.nodes(in: root, workMax: 300_000) }
    }
    let straight = try JSONPath(
      "$" + nested("[?$" + String(repeating: ".a", count: 62), "", "]", times: 16))
    #expect(try withJSON(document) { try straight.nodes(in: $0).count } == 1)
  }

  @Test(arguments: [
    ("$..[?@..[?@..*]]", 40_000), ("$..*..*..*..*", 100_000),
    ("$..[?$..[?$..[?@ == 9]]]", 1_000_000),
    ("$..[?count($..*) == 1]", 1_000_000), ("$[?$[?$[?@ == -1]]]", 1_000_000),
    ("$[?$[?@ == $[-2]]]", 1_000_000),
  ])
  func stopsExpressionsThatTakeTooLong(path: String, workMax: Int) throws {
    let wide = "[" + String(repeating: "[[1],2],", count: 5_000) + "0]"
    let path = try JSONPath(path)
    try withJSON(wide) { root in
      let error = #expect(throws: JSONPathError.self) {
        var count = 0
        try path.forEach(in: root, workMax: workMax) { _, _ in
          count += 1
          return true
        }
      }
      #expect(error?.code == .tooMuchWork)
    }
  }

  @Test func comparisonsCountAsWork() throws {
    let members = (0..<3_000).map { "\"k\($0)\":\($0)" }.joined(separator: ",")
    try withJSON("[{\(members)},{\(members)}]") { root in
      let path = try JSONPath("$[?@ == $[1]]")
      #expect(throws: JSONPathError.self) { try path.nodes(in: root, workMax: 1_000_000) }
    }
    let digits = String(repeating: "9", count: 1 << 20)
    let list = String(repeating: ",1", count: 1_000)
    try withJSON("{\"n\":\(digits),\"l\":[0\(list)]}") { root in
      let path = try JSONPath("$.l[?$.n == $.n]")
      #expect(throws: JSONPathError.self) { try path.nodes(in: root, workMax: 2_000_000) }
      #expect(try JSONPath("$.l[?$.n == 'x']").nodes(in: root, workMax: 20_000).isEmpty)
    }
  }

  @Test func patternsFromADocumentCountAsWork() throws {
    let pattern = "(a*)*(a|b?){1,500}"
    let texts = String(repeating: ",\"\(String(repeating: "a", count: 2_000))c\"", count: 50)
    try withJSON("{\"p\":\"\(pattern)\",\"l\":[0\(texts)]}") { root in
      let error = #expect(throws: JSONPathError.self) {
        try JSONPath("$.l[?match(@, $.p)]").nodes(in: root, workMax: 3_000_000)
      }
      #expect(error?.code == .tooMuchWork)
    }
    try withJSON(#"["(a{1000}){1000}"]"#) { root in
      let error = #expect(throws: JSONPathError.self) {
        try JSONPath("$[?match('a', @)]").nodes(in: root)
      }
      #expect(error?.description.contains("shorten it") == true)
    }
  }

  /// Numbers out of a seeded generator choose expressions and documents out of fitting pieces.
  @Test(arguments: [20_261_121 as UInt64])
  func randomExpressionsEndAndAgreeWithThemselves(seed: UInt64) throws {
    var numbers = SeededRandom(seed: seed)
    let pieces = [
      "$", "@", ".a", "..", "*", "[", "]", "?", "0", "-1", ":", ",", "'a'", "\"b\"", "==", "<", "!",
      "&&", "||", "(", ")", "length(", "count(", "match(", "value(", "1e2", "null", " ", "\\u00e9",
      "[?@.a", "[*]", "[0]", "..*", "[::2]", "é", "'(a*)*b'",
    ]
    let document = #"{"a": [1, {"a": "x", "b": [null, 2.0, "aé"]}, [[]]], "b": {"é": 1}}"#
    var accepted = 0
    try withJSON(document) { root in
      for round in 0..<4_000 {
        var text = "$"
        for _ in 0..<Int.random(in: 0..<9, using: &numbers) {
          text += pieces.randomElement(using: &numbers) ?? ""
        }
        do throws(JSONPathError) {
          let path = try JSONPath(text)
          accepted += 1
          try expectPathsLeadBack(path, in: root, "seed \(seed), round \(round): \(text)")
        } catch {
          #expect(
            error.offset.map { $0 >= 0 && $0 <= text.utf8.count } ?? (error.code == .tooMuchWork),
            "seed \(seed), round \(round): \(text)")
        }
      }
    }
    #expect(accepted > 50, "seed \(seed)")
  }

  /// The normalized path and the pointer of each node select that node.
  private func expectPathsLeadBack(
    _ path: JSONPath, in root: JSONValue, _ comment: Comment
  ) throws(JSONPathError) {
    var places: [(JSONValue, JSONLocation)] = []
    try path.forEach(in: root, workMax: 10_000) { node, location in
      places.append((node, location))
      return places.count < 50
    }
    for (node, location) in places {
      let back = try JSONPath(location.normalizedPath).nodes(in: root)
      #expect(back.map(canonical) == [canonical(node)], comment)
      #expect(location.pointer.value(in: root).map(canonical) == canonical(node), comment)
    }
  }
}
