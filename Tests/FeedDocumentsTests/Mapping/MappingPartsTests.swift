import FeedTestSupport
import Testing

@testable import FeedDocuments

@Suite struct MappingPartsTests {
  @Test(arguments: [
    (#"</p?a=1,2>; rel="next""#, "/p?a=1,2"), ("</p>;rel=next", "/p"),
    (#"</p>; rel="last next""#, "/p"), (#"</a>; rel="prev", </b>; rel="NEXT""#, "/b"),
    (#"</a>; title="x, y; rel=next"; rel=prev, </b>; rel=next"#, "/b"),
    (#"</a>; title="\"<x>; rel=next"; rel=prev,</b>;rel=next"#, "/b"),
    (#"</a>; rel=prev; rel=next"#, nil), ("/a; rel=next", nil), ("</a", nil), ("", nil),
    ("</a>; nofollow; rel=next", "/a"),
  ])
  func aLinkHeaderIsReadAsTheRFCHasIt(_ value: String, _ target: String?) {
    #expect(LinkHeader.target(of: "next", in: [value]) == target)
    #expect(LinkHeader.target(of: "next", in: ["<x>; rel=up", value]) == target)
  }

  @Test func aLinkHeaderOfAnyLengthTakesBoundedTime() {
    let long = String(repeating: "<a>;", count: 1_000_000) + "<b>;rel=next"
    #expect(LinkHeader.target(of: "next", in: [long]) == nil)
  }

  @Test(arguments: [
    ("PT4M13S", 253), ("P1DT1H", 90_000), ("P2W", 1_209_600), ("PT1.5S", 1.5), ("PT0S", 0),
    ("P1M", nil), ("P1Y", nil), ("PT", nil), ("P", nil), ("PT1H2H", nil), ("PT1M1H", nil),
    ("PT1S1T", nil), ("PT1.5M", nil), ("1:02", nil), ("PT-1S", nil), ("PT1S ", nil), ("pt1s", nil),
    ("PT99999999999999999999S", nil), ("PT1ST1S", nil), ("PT.5S", nil),
  ])
  func aDurationOfISO8601IsSeconds(_ text: String, _ seconds: Double?) {
    #expect(DurationForm.iso8601.seconds(text) == seconds)
  }

  @Test(arguments: [
    ("1:02:03", 3_723), ("62:03", 3_723), ("3723", 3_723), ("0:00", 0), ("1:02.5", 62.5),
    ("1:60", nil), ("1:2:3:4", nil), ("", nil), (":30", nil), ("1:", nil), ("-1", nil), ("1h", nil),
  ])
  func aClockIsSeconds(_ text: String, _ seconds: Double?) {
    #expect(DurationForm.clock.seconds(text) == seconds)
  }

  @Test(arguments: [
    ("https://e.org/l", "https://e.org/l?p=1"), ("https://e.org/l?p=0", "https://e.org/l?p=1"),
    ("https://e.org/l?a=b&p=0&c", "https://e.org/l?a=b&c&p=1"),
    ("https://e.org/l?pp=0#x", "https://e.org/l?pp=0&p=1"),
  ])
  func aParameterIsSetInAQuery(_ url: String, _ expected: String) {
    #expect(URLQuery.setting("p", to: "1", in: url) == expected)
  }

  @Test func theNamesOfPointersAndPathsAreKnown() {
    var names = MemberNames()
    for text in [
      "/a/b", "/c~1d", "/~1\u{301}", "$.e[*].f", "$['g h'].i", #"$["\u006b","l"]"#, "$..j", "$.*",
      "plain",
    ] {
      names.insert(firstOf: text)
    }
    let text = """
      {"a":1,"c/d":1,"/\u{301}":1,"e":1,"g h":1,"k":1,"l":1,"j":1,"*":1,"plain":1}
      """
    let known = try? withPadding(Array(text.utf8)) { bytes throws(DocumentError) in
      try JSONParser().withValue(bytes) { value in
        value.members.map { names.contains($0.name) }
      }
    }
    #expect(known == Array(repeating: true, count: 7) + [false, false, false])
  }
}
