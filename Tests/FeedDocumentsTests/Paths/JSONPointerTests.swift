import Testing

@testable import FeedDocuments

@Suite struct JSONPointerTests {
  /// The document and the pointers of RFC 6901 section 5.
  private static let document = #"""
    {"foo": ["bar", "baz"], "": 0, "a/b": 1, "c%d": 2, "e^f": 3, "g|h": 4, "i\\j": 5, "k\"l": 6,
     " ": 7, "m~n": 8}
    """#

  @Test(arguments: [
    ("/foo", #"["bar", "baz"]"#), ("/foo/0", "bar"), ("/", "0"), ("/a~1b", "1"), ("/c%d", "2"),
    ("/e^f", "3"), ("/g|h", "4"), ("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"), ("/m~0n", "8"),
  ])
  func findsWhatTheRFCShows(pointer: String, expected: String) throws {
    let pointer = try JSONPointer(pointer)
    #expect(try withJSON(Self.document) { pointer.value(in: $0)?.text } == expected)
  }

  @Test func isTheWholeDocumentWhenEmpty() throws {
    #expect(try withJSON("[1]") { try JSONPointer("").value(in: $0)?.text } == "[1]")
  }

  @Test(arguments: [
    "/foo/2", "/foo/-", "/foo/00", "/foo/01", "/foo/+1", "/foo/-1", "/foo/", "/foo/1 ", "/foo/0/x",
    "/foo/99999999999999999999", "/foo/٣", "/bar", "/m~0n/", "/a", "/A~1b",
  ])
  func findsNothingElse(pointer: String) throws {
    let pointer = try JSONPointer(pointer)
    #expect(try withJSON(Self.document) { pointer.value(in: $0) == nil })
  }

  @Test func takesNamesByTheirBytes() throws {
    let document = "{\"é\": 1, \"e\u{301}\": 2, \"0\": 3, \"a\": 4, \"a\": 5}"
    for (pointer, expected) in [("/é", 1), ("/e\u{301}", 2), ("/0", 3), ("/a", 5)] {
      let pointer = try JSONPointer(pointer)
      #expect(try withJSON(document) { pointer.value(in: $0)?.int64 } == Int64(expected))
    }
  }

  @Test(arguments: [
    ("a", 0), ("#/a", 0), ("/~", 1), ("/a~2", 2), ("/é/~", 4), ("/a~/0", 2), ("/~01~", 4),
  ])
  func refusesWhatIsNoPointer(text: String, offset: Int) {
    let error = #expect(throws: JSONPointerError.self) { try JSONPointer(text) }
    #expect(error?.offset == offset)
  }

  @Test func refusesLongOnes() {
    #expect(throws: JSONPointerError.self) {
      try JSONPointer(String(repeating: "/", count: JSONPointer.textBytesMax + 1))
    }
  }

  @Test(arguments: ["", "/", "//", "/a~1b/~0/~01", "/foo/0", "/~0\u{301}/~1\u{301}a"])
  func isWrittenAsItWasRead(text: String) throws {
    #expect(try JSONPointer(text).description == text)
  }
}
