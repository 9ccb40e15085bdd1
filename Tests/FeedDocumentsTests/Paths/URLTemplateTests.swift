import FeedTestSupport
import Testing

@testable import FeedDocuments

@Suite struct URLTemplateTests {
  private static let values = [
    "var": "value", "hello": "Hello World!", "empty": "", "half": "50%", "semi": ";", "v": "6",
    "path": "/foo/bar", "who": "fred", "é": "unused", "base": "http://example.com/home/",
    "a.b": "dotted", "%C3%A9": "encoded name", "text": "片é~-._",
  ]

  /// The level 1 examples of RFC 6570 section 1.2 and of section 3.2.2, and more of their kind.
  @Test(arguments: [
    ("{var}", "value"), ("{hello}", "Hello%20World%21"), ("{half}", "50%25"), ("O{empty}X", "OX"),
    ("{semi}", "%3B"), ("{path}/here", "%2Ffoo%2Fbar/here"),
    ("/{var}/{var}?v={v}#{who}", "/value/value?v=6#fred"),
    ("{base}index", "http%3A%2F%2Fexample.com%2Fhome%2Findex"), ("", ""), ("{a.b}", "dotted"),
    ("{%C3%A9}", "encoded%20name"), ("{text}", "%E7%89%87%C3%A9~-._"),
    ("https://example.org/é/%20/it's?q=1&r=[2]", "https://example.org/%C3%A9/%20/it's?q=1&r=[2]"),
  ])
  func expands(template: String, expected: String) throws {
    #expect(try URLTemplate(template).expand { Self.values[$0] } == expected)
  }

  @Test func expandsToNothingWithoutAValue() throws {
    #expect(try URLTemplate("{var}/{undefined}").expand { Self.values[$0] } == nil)
  }

  @Test func namesEachNameOnce() throws {
    let template = try URLTemplate("/{b}/{a}/{b}?{Var}")
    #expect(template.names == ["b", "a", "Var"])
    #expect(try URLTemplate("/x").names.isEmpty)
  }

  @Test(arguments: [
    ("{", 0), ("a{b", 1), ("{}", 1), ("}", 0), ("{+var}", 1), ("{#var}", 1), ("{?q}", 1),
    ("{a,b}", 2),
    ("{a*}", 2), ("{a:3}", 2), ("{a..b}", 3), ("{.a}", 1), ("{a.}", 2), ("{é}", 1), ("{a{b}}", 2),
    ("a b", 1), ("%2", 0), ("%zz", 0), ("<", 0), ("\n", 0), ("{%4}", 1), ("{a%}41", 2), ("a\\", 1),
  ])
  func refusesWhatIsNoTemplate(text: String, offset: Int) {
    let error = #expect(throws: URLTemplateError.self) { try URLTemplate(text) }
    #expect(error?.offset == offset)
  }

  @Test func refusesLongOnes() {
    #expect(throws: URLTemplateError.self) {
      try URLTemplate(String(repeating: "a", count: URLTemplate.textBytesMax + 1))
    }
  }
}
