import EntityModel
import FeedTestSupport
import Foundation
import Testing

@testable import FeedDocuments

/// Every word of the grammar, by a document that needs it.
@Suite struct MappedDocumentTests {
  private let head = "mapping: m\nitems: $.items[*]\nid: /id\n"

  /// The values of the only item.
  private func values(_ attributes: String, _ item: String) throws -> [String: Value] {
    let page = try mappedPage(
      "{\"items\":[{\"id\":1,\(item)}]}", by: head + "attributes:\n  " + attributes)
    return try #require(page.items.first, "\(page.rejected)").values
  }

  @Test(arguments: [
    ("text: /a/b", #""a":{"b":"x"}"#, "text", Value.string("x")),
    ("text: [/a, /b]", #""a":null,"b":"x""#, "text", .string("x")),
    ("number: [/a, /b]", #""a":"x","b":"7""#, "number", .int64(7)),
    (
      "list: $.a[*].b", #""a":[{"b":"x"},{"b":2.50},{"b":null},{}]"#, "list",
      .strings(["x", "2.50"])
    ),
    ("number: $.a[*].b", #""a":[{"b":"x"},{"b":2},{"b":3}]"#, "number", .int64(2)),
    ("text: { path: \"$.a[*]\", separator: \"; \" }", #""a":["x","y"]"#, "text", .string("x; y")),
    ("list: /a", #""a":["x","y"]"#, "list", .strings(["x", "y"])),
    ("number: { count: \"$.a[*]\" }", #""a":[1,2,3]"#, "number", .int64(3)),
    ("number: { count: \"$.b[*]\" }", #""a":1"#, "number", .int64(0)),
    ("text: { value: fixed }", #""a":1"#, "text", .string("fixed")),
    ("state: { at: /a, cases: { yes: open } }", #""a":"yes""#, "state", .int64(1)),
    ("ratio: { at: /a, scale: 0.5 }", #""a":3"#, "ratio", .double(1.5)),
    ("number: { at: /a, duration: iso8601 }", #""a":"PT1H2M3S""#, "number", .int64(3_723)),
    ("number: { at: /a, duration: clock }", #""a":"1:02:03""#, "number", .int64(3_723)),
    ("number: { at: /a, duration: clock }", #""a":77"#, "number", .int64(77)),
    ("number: { at: /a, default: 5 }", #""b":1"#, "number", .int64(5)),
    ("number: { at: /a, default: 5 }", #""a":"x""#, "number", .int64(5)),
    ("text: /a", #""a":1.50"#, "text", .string("1.50")),
    (
      "price: /a", #""a":12345678901234567890.12"#, "price",
      Value(text: "12345678901234567890.12", as: .decimal, now: .distantPast) ?? .null
    ),
    ("price: /a", #""a":1.5e3"#, "price", .decimal(1_500)),
    ("flag: /a", #""a":1"#, "flag", .bool(true)),
  ])
  func aValueIsTakenAndConverted(
    _ attribute: String, _ item: String, _ name: String, _ value: Value
  ) throws {
    #expect(try values(attribute, item)[name] == value)
  }

  @Test func aTemplateIsFilledWithTheIDAndWithValuesPercentEncoded() throws {
    let values = try values(
      "text: /t\n  number: /n\n  link: { template: \"https://e.org/{id}/{text}?n={number}\" }",
      #""t":"a b/ü","n":7"#)
    #expect(values["link"]?.text == "https://e.org/1/a%20b%2F%C3%BC?n=7")
    #expect(
      try self.values("text: /t\n  link: { template: \"https://e.org/{text}\" }", #""x":1"#).isEmpty
    )
  }

  @Test func whatCannotBeConvertedIsCountedByAttributeAndLeftToTheEntity() throws {
    let page = try mappedPage(
      #"{"items":[{"id":"a","n":"x","m":"y"}]}"#,
      by: head + "attributes: { number: /n, ratio: { at: /m, default: 1.5 } }")
    let number = page.items[0].fields.first { $0.name == "number" }
    #expect(number?.value.converted(to: .int64) == nil)
    #expect(page.items[0].values["ratio"] == .double(1.5))
    #expect(page.drift.typeChanges == ["ratio": 1])
  }

  @Test func anItemWithoutWhatIsRequiredIsRejectedWithItsPlace() throws {
    let page = try mappedPage(
      #"{"items":[{"id":"a"},{"id":"b","t":"x"},{"t":"x"},7]}"#,
      by: head + "attributes: { text: { at: /t, required: true } }")
    #expect(page.items.map(\.id) == ["b"])
    #expect(
      page.rejected.map(\.reason.description) == [
        "a required member is missing at /items/0: text is required",
        "a required member is missing at /items/2/id",
        "a member has a value that the format does not allow at /items/3: must be an object",
      ])
    #expect(page.rejected.map(\.id) == ["a", nil, nil])
  }

  @Test func aKindChoosesTheEntityAndUnknownKindsAreCounted() throws {
    let page = try mappedPage(
      #"{"items":[{"id":"a","k":"f"},{"id":"b","k":"v"},{"id":"c","k":"Film"},{"id":"d"}]}"#,
      by: head + "kind: { at: /k, entities: { f: Film, v: Video } }")
    #expect(page.items.map(\.kind) == ["Film", "Video"])
    #expect(page.drift.unknownKinds == 2)
  }

  @Test func severalGroupsReadOneDocument() throws {
    let page = try mappedPage(
      #"{"films":[{"id":1}],"data":{"videos":{"x":{"key":"2"}}}}"#,
      by: """
        mapping: m
        groups:
          - { items: "$.films[*]", entity: Film, id: /id }
          - { items: $.data.videos.*, entity: Video, id: /key }
        """)
    #expect(page.items.map { ($0.kind ?? "") + $0.id } == ["Film1", "Video2"])
  }

  @Test func aDocumentWithoutItsItemsIsAnError() throws {
    for text in [#"{"other":[]}"#, #"{"items":null}"#, #"{"items":"none"}"#, "[]"] {
      let error = try #require(throws: DocumentError.self, "\(text)") {
        _ = try mappedPage(text, by: head)
      }
      #expect(error.location == "/items")
    }
    #expect(try mappedPage(#"{"items":[]}"#, by: head).items.isEmpty)
  }

  @Test func anArrayMayBeTheRoot() throws {
    let page = try mappedPage(#"[{"id":"a"},{"id":"b"}]"#, by: "mapping: m\nitems: $[*]\nid: /id")
    #expect(page.items.map(\.id) == ["a", "b"])
    #expect(page.format == .json)
  }

  @Test func deletionsAreFlagsDatesOrNodes() throws {
    let flags = try mappedPage(
      #"{"items":[{"id":"a","gone":true},{"id":"b","gone":false},{"id":"c","gone":"maybe"}]}"#,
      by: head + "deleted: /gone")
    #expect(flags.items.map(\.isDeleted) == [true, false])
    #expect(flags.rejected.map(\.id) == ["c"], "neither stored nor deleted")
    let dates = try mappedPage(
      #"{"items":[{"id":"a","at":"2026-11-20T10:00:00Z"},{"id":"b","at":null}]}"#,
      by: head + "deletedAt: /at")
    #expect(dates.items.map(\.isDeleted) == [true, false])
    #expect(dates.items[0].deletedAt == DateText.rfc3339("2026-11-20T10:00:00Z"))
    let nodes = try mappedPage(
      #"{"items":[{"id":"a"}],"gone":[{"key":7,"rev":3,"when":"2026-11-20T10:00:00Z"},{}]}"#,
      by: head + "deleted: { items: \"$.gone[*]\", id: /key, revision: /rev, deletedAt: /when }")
    #expect(nodes.items.map(\.id) == ["a", "7"])
    #expect(nodes.items[1].isDeleted && nodes.items[1].revision == 3)
    #expect(nodes.items[1].deletedAt == dates.items[0].deletedAt)
    #expect(nodes.rejected.count == 1)
  }

  @Test func revisionsAndDatesThatCannotBeReadAreLeftOut() throws {
    let page = try mappedPage(
      #"{"items":[{"id":"a","r":"7","u":1700000000},{"id":"b","r":"x","u":"then"}]}"#,
      by: head + "revision: /r\nupdatedAt: { at: /u, date: unixSeconds }")
    #expect(page.items.map(\.revision) == [7, nil])
    #expect(page.items.map(\.updatedAt) == [Date(timeIntervalSince1970: 1_700_000_000), nil])
    #expect(page.drift.droppedMembers == 1 && page.drift.typeChanges == ["revision": 1])
    #expect(page.drift.unreadableDates == 1)
    #expect(page.drift.unreadableDate == #""then" (updatedAt)"#)
  }

  @Test func revisionsBelow0AreNone() throws {
    let page = try mappedPage(
      #"{"items":[{"id":"a","r":0},{"id":"b","r":-1}],"gone":[{"id":"c","r":-1}]}"#,
      by: head + "revision: /r\ndeleted: { items: \"$.gone[*]\", id: /id, revision: /r }")
    #expect(page.items.map(\.revision) == [0, nil, nil])
    #expect(page.drift.typeChanges == ["revision": 2])
  }

  @Test func membersThatNothingNamesAreCountedAndAtMost16AreNamed() throws {
    let many = (0..<40).map { "\"m\($0)\":1" }.joined(separator: ",")
    let page = try mappedPage(
      "{\"items\":[{\"id\":1,\"t\":1,\"k\":2,\"_x\":1,\(many)},{\"id\":2,\"m1\":1}]}",
      by: head + "known: [k]\nattributes: { text: /t/u }")
    #expect(page.drift.unknownMembers == 41)
    #expect(page.drift.unknownNames == (0..<16).map { "m\($0)" })
  }

  @Test func aDamagedItemIsRejectedAndTheOthersAreKept() throws {
    let text = Array(#"{"items":[{"id":"a"},{"id":"\x"},{"id":"b","n":01},{"id":"c"}]}"#.utf8)
    let page = try mappedPage(text, by: head)
    #expect(page.items.map(\.id) == ["a", "c"])
    #expect(page.rejected.map(\.reason.code) == [.invalidString, .invalidNumber])
    #expect(page.rejected.map(\.reason.location) == ["/items/1", "/items/2"])
  }

  @Test func aDamagedItemIsRejectedEvenIfAPathSkipsIt() throws {
    let text = Array(
      #"{"items":[{"id":"a","k":1},{"id":"\x","k":1},01,{"id":"b","k":1}]}"#.utf8)
    let filtered = head.replacing("$.items[*]", with: "$.items[?@.k==1]")
    for mapping in [head, filtered] {
      let page = try mappedPage(text, by: mapping)
      #expect(page.items.map(\.id) == ["a", "b"])
      #expect(page.rejected.map(\.reason.code) == [.invalidString, .invalidNumber])
      #expect(page.rejected.map(\.reason.location) == ["/items/1", "/items/2"])
    }
  }

  @Test func theDocumentsOwnMembersAreRead() throws {
    let page = try mappedPage(
      #"{"name":"N","minutes":30,"whole":true,"items":[]}"#,
      by: head + "title: /name\nttl: { at: /minutes, scale: 60 }\ncomplete: /whole")
    #expect(page.title == "N" && page.timeToLive == 1_800 && page.mode == .full)
    var source = DocumentSource()
    source.isDelta = true
    #expect(try mappedPage(#"{"items":[]}"#, by: head + "mode: full", source).mode == .delta)
  }

  // MARK: Pages

  @Test(arguments: [
    ("next: /n", #""n":"/p2""#, "/p2"),
    ("next: { url: [/m, /n] }", #""n":"/p2""#, "/p2"),
    ("next: { token: /n, param: t }", #""n":"a&b""#, "https://e.org/l?k=v&t=a%26b"),
    ("next: { token: /n, param: page }", #""n":7"#, "https://e.org/l?k=v&page=7"),
    ("next: { page: /p, pages: /q, param: page }", #""p":1,"q":3"#, "https://e.org/l?k=v&page=2"),
    (
      "next: { offset: /o, limit: /l, total: /t, param: skip }", #""o":0,"l":2,"t":3"#,
      "https://e.org/l?page=1&k=v&skip=2"
    ),
    ("next: rfc5005", #""_feed":{"next":"/a","prev_archive":"/b"}"#, "/a"),
    ("next: rfc5005", #""_feed":{"prev_archive":"/b"}"#, "/b"),
    ("next: { token: /n, param: page }", #""n":null"#, nil),
    ("next: { token: /n, param: page }", #""n":"""#, nil),
    ("next: { page: /p, pages: /q, param: page }", #""p":3,"q":3"#, nil),
    ("next: { offset: /o, limit: /l, total: /t, param: s }", #""o":2,"l":2,"t":3"#, nil),
    (
      "next: { offset: /o, limit: /l, total: /t, param: s }",
      #""o":9223372036854775807,"l":9223372036854775807,"t":9223372036854775807"#, nil
    ),
  ])
  func theNextPageIsFound(_ next: String, _ members: String, _ expected: String?) throws {
    var source = DocumentSource()
    source.url = "https://e.org/l?page=1&k=v#f"
    if next.contains("param: t ") { source.url = "https://e.org/l?t=1&k=v" }
    let page = try mappedPage(
      "{\"items\":[],\(members)}", by: head + next, source)
    #expect(page.next == expected)
  }

  @Test(arguments: [
    ("next: /n", #""n":{}"#), ("next: { page: /p, pages: /q, param: p }", #""p":"x","q":2"#),
    ("next: { page: /p, pages: /q, param: p }", #""p":1"#),
    ("next: { page: /p, pages: /q, param: p }", #""p":null,"q":2"#),
    ("next: { offset: /o, limit: /l, total: /t, param: s }", #""o":0,"l":2"#),
    ("next: { offset: /o, limit: /l, total: /t, param: s }", #""o":0,"l":0,"t":3"#),
    ("next: { offset: /o, limit: /l, total: /t, param: s }", #""o":-1,"l":1,"t":3"#),
  ])
  func anInvalidNextPageDoesNotCountAsTheLastPage(_ next: String, _ members: String) throws {
    let text = "{\"items\":[],\(members)}"
    #expect(throws: DocumentError.self) {
      _ = try mappedPage(text, by: head + "mode: full\n" + next)
    }
    let window = try mappedPage(text, by: head + next)
    #expect(window.next == nil && window.drift.droppedMembers == 1)
  }

  @Test func checkpointsAreURLsOrTokens() throws {
    let url = try mappedPage(
      #"{"items":[],"c":"/sync?t=1"}"#, by: head + "checkpoint: /c")
    #expect(url.nextRun == .url("/sync?t=1"))
    let token = try mappedPage(
      #"{"items":[],"c":17}"#, by: head + "checkpoint: { token: /c, param: since }")
    #expect(token.nextRun == .query("since", "17"))
    #expect(throws: DocumentError.self) {
      _ = try mappedPage(#"{"items":[],"c":[]}"#, by: head + "checkpoint: /c")
    }
  }

  // MARK: Identity

  private func identity(_ items: String, before: String? = nil) throws -> FeedPage {
    var source = DocumentSource()
    source.identity = before
    return try mappedPage(
      "{\"items\":[\(items)]}",
      by: "mapping: m\nitems: $.items[*]\nidentity: [/id, /url, [/title, /date]]",
      source)
  }

  @Test func theFirstIdentityThatDistinguishesTheItemsIsChosenForAll() throws {
    let ids = try identity(#"{"id":"a","url":"u"},{"id":"b","url":"u"}"#)
    #expect(ids.items.map(\.id) == ["a", "b"] && ids.identity == "/id")
    let urls = try identity(#"{"id":"x","url":"u"},{"id":"x","url":"v"},{"id":"x","url":"w"}"#)
    #expect(urls.items.map(\.id) == ["u", "v", "w"] && urls.identity == "/url")
    let hashes = try identity(#"{"title":"t","date":"1"},{"title":"t","date":"2"}"#)
    #expect(Set(hashes.items.map(\.id)).count == 2)
    #expect(hashes.items.allSatisfy { $0.id.hasPrefix("xxh3:") && $0.id.utf8.count == 21 })
  }

  @Test func anItemThatLacksTheChosenIdentityTakesTheNext() throws {
    let page = try identity(#"{"id":"a"},{"url":"u"},{"title":"t"},{"other":1}"#)
    #expect(page.items.prefix(2).map(\.id) == ["a", "u"])
    #expect(page.items.count == 3 && page.rejected.count == 1)
  }

  @Test func theChosenIdentityStays() throws {
    let later = try identity(#"{"id":"a","url":"u"},{"id":"b","url":"v"}"#, before: "/url")
    #expect(later.items.map(\.id) == ["u", "v"] && later.identity == "/url")
    let other = try identity(#"{"id":"a","url":"u"}"#, before: "/guid")
    #expect(other.identity == "/id", "of another mapping")
  }

  @Test func aRepeatedItemDoesNotChangeTheIdentity() throws {
    let items = (0..<20).map { #"{"id":"\#(min($0, 18))","url":"u\#($0)"}"# }
    #expect(try identity(items.joined(separator: ",")).identity == "/id")
  }
}
