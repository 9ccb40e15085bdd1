import Testing

@testable import FeedDocuments

@Suite struct JSONPathTests {
  private static let store = """
    {"store": {"book": [
      {"category": "reference", "author": "Nigel Rees", "price": 8.95},
      {"category": "fiction", "author": "Evelyn Waugh", "price": 12.99},
      {"category": "fiction", "author": "Herman Melville", "isbn": "0-553-21311-3", "price": 8.99},
      {"category": "fiction", "author": "J. R. R. Tolkien", "isbn": "0-395-19395-8", "price": 22.99}
    ], "bicycle": {"color": "red", "price": 399}}}
    """

  /// The examples of RFC 9535 section 1.5, as far as their nodes are short.
  @Test(arguments: [
    (
      "$.store.book[*].author",
      ["\"Nigel Rees\"", "\"Evelyn Waugh\"", "\"Herman Melville\"", "\"J. R. R. Tolkien\""]
    ),
    (
      "$..author",
      ["\"Nigel Rees\"", "\"Evelyn Waugh\"", "\"Herman Melville\"", "\"J. R. R. Tolkien\""]
    ),
    ("$.store..price", ["8.95", "12.99", "8.99", "22.99", "399"]),
    ("$..book[2].author", ["\"Herman Melville\""]), ("$..book[2].publisher", []),
    ("$..book[-1].price", ["22.99"]), ("$..book[0,1].price", ["8.95", "12.99"]),
    ("$..book[:2].price", ["8.95", "12.99"]), ("$..book[?@.isbn].price", ["8.99", "22.99"]),
    ("$..book[?@.price<10].price", ["8.95", "8.99"]),
    ("$..book[?@.price < $.store.book[2].price].price", ["8.95"]),
    ("$.store.book[?@.category=='fiction' && !(@.price>20 || @.isbn)].price", ["12.99"]),
    ("$..book[?match(@.author, '.* .* .*')].price", ["22.99"]),
    ("$..book[?match(@.author, 'J([.] R){2}[.] \\\\p{Lu}.*')].price", ["22.99"]),
    ("$..book[?search(@.author, 'e[a-m]')].price", ["8.95", "12.99", "8.99"]),
    ("$.store[?length(@) == 2].color", ["\"red\""]),
    ("$.store[?count(@.*.isbn) == 2][0].price", ["8.95"]),
    ("$.store[?value(@..color) == 'red'].price", ["399"]),
    ("$.store.book[::-2].price", ["22.99", "12.99"]),
    ("$.store.book[-3:3].price", ["12.99", "8.99"]),
  ])
  func selectsAsTheRFCShows(path: String, expected: [String]) throws {
    #expect(try select(path, in: Self.store) == expected)
  }

  @Test(arguments: [
    ("$[?@ == 1]", ["1", "1.0", "1e0", "10e-1"]), ("$[?@ == 1.00]", ["1", "1.0", "1e0", "10e-1"]),
    ("$[?@ == 9007199254740993]", ["9007199254740993", "9007199254740993.0"]),
    ("$[?@ == 9007199254740992.0]", []),
    ("$[?@ > 18446744073709551615]", ["18446744073709551616", "1e400", "2e400"]),
    ("$[?@ == 18446744073709551616.0]", ["18446744073709551616"]), ("$[?@ == 1e400]", ["1e400"]),
    ("$[?@ > 1e400]", ["2e400"]), ("$[?@ < -0.0]", ["-1e-400"]),
    ("$[?@ == 0]", ["0", "-0.0", "0e5"]), ("$[?@ <= 0 && @ >= -0]", ["0", "-0.0", "0e5"]),
  ])
  func comparesNumbersAsMathematicsDoes(path: String, expected: [String]) throws {
    let numbers = """
      [1, 1.0, 1e0, 10e-1, 9007199254740993, 9007199254740993.0, 18446744073709551616, 1e400, 2e400,
      -1e-400, 0, -0.0, 0e5]
      """
    #expect(try select(path, in: numbers) == expected)
  }

  @Test(arguments: [
    ("$[?@ > 'z']", ["\"é\"", "\"\u{FFFD}\"", "\"😀\""]), ("$[?@ > '\u{FFFD}']", ["\"😀\""]),
    ("$[?@ == 'e\\u0301']", ["\"e\u{301}\""]), ("$[?length(@) == 2]", ["\"e\u{301}\""]),
  ])
  func comparesStringsByScalars(path: String, expected: [String]) throws {
    #expect(try select(path, in: "[\"é\", \"e\u{301}\", \"\u{FFFD}\", \"😀\"]") == expected)
  }

  @Test func comparesContainersByTheirContent() throws {
    let pairs = """
      [{"a": {"x": 1, "y": [1.0]}, "b": {"y": [1], "x": 1.0}}, {"a": [1, 2], "b": [2, 1]},
      {"a": {"x": 1}, "b": {"x": 1, "y": 2}}, {"a": {"x": 1, "x": 2}, "b": {"x": 2, "y": 2}},
      {"a": {}, "b": []}, {"a": [[]], "b": [[]]}]
      """
    let path = try JSONPath("$[?@.a == @.b]")
    let equal = try withJSON(pairs) { root in
      var places: [String] = []
      try path.forEach(in: root) { _, location in
        places.append(location.normalizedPath)
        return true
      }
      return places
    }
    #expect(equal == ["$[0]", "$[5]"])
  }

  @Test func reportsThePlaceOfEachNode() throws {
    let text = #"{"a'b\\": [0, {"\u0000\n~/😀": 1}]}"#
    let places = try withJSON(text) { root in
      var places: [String] = []
      try JSONPath("$..*").forEach(in: root) { _, location in
        places.append("\(location.normalizedPath)  \(location.pointer)")
        return true
      }
      return places
    }
    #expect(
      places == [
        #"$['a\'b\\']  /a'b\"#, #"$['a\'b\\'][0]  /a'b\/0"#, #"$['a\'b\\'][1]  /a'b\/1"#,
        #"$['a\'b\\'][1]['\u0000\n~/😀']  /a'b\/1/"# + "\0\n~0~1😀",
      ])
  }

  /// The queries of a filter do not change the reported place of the node.
  @Test func reportsThePlaceOfNodesAfterFilters() throws {
    let places = try withJSON(#"[{"a": [{"b": 1}, {"c": [2]}]}]"#) { root in
      var places: [String] = []
      try JSONPath("$[?@..b].a[?@.c[?@ == 2] || count(@..*) == 9]..[0]").forEach(in: root) {
        places.append($1.normalizedPath)
        return true
      }
      return places
    }
    #expect(places == ["$[0]['a'][1]['c'][0]"])
  }

  @Test func stopsOnRequest() throws {
    let numbers = "[" + (0..<1_000).map(String.init).joined(separator: ",") + "]"
    try withJSON(numbers) { root in
      var first: JSONValue?
      try JSONPath("$..[?@ >= 3]").forEach(in: root, workMax: 40) { node, _ in
        first = node
        return false
      }
      #expect(first?.int64 == 3)
      #expect(try JSONPath("$[?@ > 1000]").nodes(in: root).isEmpty)
    }
  }

  @Test(arguments: [
    ("$", true), ("$.a['b'][-1]", true), ("$.a.*", false), ("$..a", false), ("$['a','b']", false),
    ("$[0:1]", false), ("$[?@]", false),
  ])
  func recognizesSingularExpressions(path: String, isSingular: Bool) throws {
    #expect(try JSONPath(path).isSingular == isSingular)
  }

  @Test(arguments: [
    ("", 0, "expected $ at the beginning"), (" $", 0, "expected $ at the beginning"),
    ("$ ", 1, "expected [, . or the end"), ("$.", 2, "expected a name"),
    ("$.a[", 4, "expected a selector"), ("$[01]", 2, "without leading zeros"),
    ("$['a]", 2, "the end of this string"), ("$['\\x']", 3, "an escape such as"),
    ("$[?@.a=1]", 6, "expected , or ]"), ("$[?!@.a==1]", 7, "expected , or ]"),
    ("$[?@.é==]", 9, "expected a query"), ("$[9007199254740992]", 2, "at most 9007199254740991"),
  ])
  func reportsThePlaceOfAnError(path: String, offset: Int, what: String) throws {
    let error = try #require(pathError(path))
    #expect(error.code == .syntax)
    #expect(error.offset == offset)
    #expect(error.message.contains(what), "\(error)")
    #expect(!error.description.contains("\n"))
  }

  @Test(arguments: [
    ("$[?'a']", 3), ("$[?1 == @.*]", 8), ("$[?length(@.*) == 1]", 10), ("$[?count('a') == 1]", 9),
    ("$[?count(@)]", 3), ("$[?match(@, 'a') == true]", 3), ("$[?length(@, 1) == 1]", 3),
    ("$[?first(@)]", 3), ("$[?@[ 0 ] == 1]", 3), ("$[?length(match(@, 'a')) == 1]", 10),
  ])
  func reportsThePlaceOfATypeError(path: String, offset: Int) throws {
    let error = try #require(pathError(path))
    #expect(error.code == .type)
    #expect(error.offset == offset)
  }

  @Test func recognizesPatternsThatCannotMatch() throws {
    let path = try JSONPath("$[?match(@, 'a+') || search(@, '\\\\d')]")
    let error = #expect(throws: IRegexpError.self) { try IRegexp("\\d") }
    #expect(error?.description.contains("character 2") == true)
    #expect(try select(path.text, in: #"["aa", "1", "\\d"]"#) == ["\"aa\""])
  }

  @Test func isEqualByItsText() throws {
    #expect(try JSONPath("$.a") == JSONPath("$.a"))
    #expect(try Set([JSONPath("$.a"), JSONPath("$.a"), JSONPath("$['a']")]).count == 2)
    #expect(try JSONPath("$.é") != JSONPath("$.e\u{301}"))
    #expect(try JSONPointer("/é") != JSONPointer("/e\u{301}"))
  }
}
