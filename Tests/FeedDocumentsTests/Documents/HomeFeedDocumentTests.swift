import Foundation
import TestSupport
import Testing

@testable import FeedDocuments

/// Every member that the format defines, in one small document.
private let example = #"""
  {"format":"homefeed/1","epoch":"3f6c","mode":"full","version":18231,"since":null,
   "generatedAt":"2026-11-20T10:00:00Z","title":"首页",
   "sections":[{"key":"recentUpdates","title":"最近更新","items":["ep:101"],"more":true}],
   "entities":[
    {"id":"ep:101","kind":"Episode","rev":18190,"updatedAt":"2026-11-19T08:00:00.5Z",
     "attrs":{"title":"片头 \u0031","type":1,"duration":611,"path":"lp:7","tags":["a","b"],
              "score":0.5,"free":true,"note":null,"_internal":1}},
    {"id":"ep:55","kind":"Episode","rev":18199,"deleted":true,"deletedAt":"2026-11-19T09:00:00Z"}],
   "user":[{"id":"ep:101","rev":77,"favoriteAt":null,"watchedAt":"2026-11-20T10:00:00Z",
            "progress":0.42}],
   "page":{"next":"/v1/home?cursor=b3","index":0},
   "checkpoint":"18231.ab12","horizon":17000,"ttl":900}
  """#

@Suite struct HomeFeedDocumentTests {
  /// The names of an item are guessed from those of the items before it.
  @Test func itemsMayHaveTheirMembersInAnyOrderAndTwice() throws {
    let attributes = [
      #""a":1,"b":2,"path":"x""#, #""path":"y","b":3,"a":4"#, #""b":5"#,
      #""c":6,"a":7,"c":8,"a":9"#,
      #""path":"p","pathID":"q""#, #""pathID":"r","path":"s""#, #""_a":1,"a":2,"":3"#,
      #""":4,"a":5"#,
    ]
    let expected: [[(String, ScalarValue)]] = [
      [("a", .int64(1)), ("b", .int64(2)), ("pathID", .string("x"))],
      [("pathID", .string("y")), ("b", .int64(3)), ("a", .int64(4))],
      [("b", .int64(5))], [("c", .int64(8)), ("a", .int64(9))],
      [("pathID", .string("q"))], [("pathID", .string("s"))],
      [("a", .int64(2)), ("", .int64(3))], [("", .int64(4)), ("a", .int64(5))],
    ]
    let items = attributes.enumerated().map { number, attributes in
      "{\"id\":\"\(number)\",\"kind\":\"E\",\"rev\":1,\"attrs\":{\(attributes)}}"
    }
    let page = try parsePage(
      """
      {"format":"homefeed/1","epoch":"e","mode":"full","version":1,
       "entities":[\(items.joined(separator: ","))]}
      """)
    let fields = expected.map { $0.map { Field(name: $0, value: $1) } }
    #expect(page.items.map { Array($0.fields) } == fields)
  }

  /// `path` gives the same field as `pathID`, and its name is not kept.
  @Test func aNameThatIsNotKeptMayGiveTheSameFieldAsAnother() throws {
    let kept = (0..<63).map { "\"n\($0)\":0" } + ["\"pathID\":1"]
    let items = [kept.joined(separator: ","), #""path":"p","pathID":5"#].enumerated().map {
      "{\"id\":\"\($0)\",\"kind\":\"E\",\"rev\":1,\"attrs\":{\($1)}}"
    }
    let page = try parsePage(
      """
      {"format":"homefeed/1","epoch":"e","mode":"full","version":1,
       "entities":[\(items.joined(separator: ","))]}
      """)
    #expect(page.items.last?.fields == [Field(name: "pathID", value: .int64(5))])
  }

  /// Names beyond those that are kept are read all the same.
  @Test func anItemMayHaveAHundredMembers() throws {
    let names = (0..<100).map { "n\($0)" }
    let attributes = (names + names.reversed()).enumerated().map { "\"\($1)\":\($0)" }
    let page = try parsePage(
      """
      {"format":"homefeed/1","epoch":"e","mode":"full","version":1,"entities":[
       {"id":"1","kind":"E","rev":1,"attrs":{\(attributes.joined(separator: ","))}}]}
      """)
    let fields = names.enumerated().map { Field(name: $1, value: .int64(Int64(199 - $0))) }
    #expect(page.items.first?.fields == FieldList(fields))
  }

  @Test func readsEveryMember() throws {
    let page = try parsePage(example)
    #expect(page.format == .homeFeed1)
    #expect(page.title == "首页")
    #expect(page.mode == .full)
    #expect(page.epoch == "3f6c")
    #expect(page.version == 18_231)
    #expect(page.since == nil)
    #expect(page.next == "/v1/home?cursor=b3")
    #expect(page.checkpoint == "18231.ab12")
    #expect(page.timeToLive == 900)
    #expect(page.drift.unknownMembers == 0)
    #expect(page.drift.droppedMembers == 0)
    #expect(page.rejected.isEmpty && page.rejectedUsers.isEmpty)
    #expect(
      page.items == [
        FeedItem(
          kind: "Episode", id: "ep:101", revision: 18_190,
          updatedAt: Date(timeIntervalSinceReferenceDate: 816_768_000.5), isDeleted: false,
          deletedAt: nil,
          fields: [
            Field(name: "title", value: .string("片头 1")), Field(name: "type", value: .int64(1)),
            Field(name: "duration", value: .int64(611)),
            Field(name: "pathID", value: .string("lp:7")),
            Field(name: "tags", value: .strings(["a", "b"])),
            Field(name: "score", value: .double(0.5)), Field(name: "free", value: .bool(true)),
            Field(name: "note", value: .null),
            Field(name: "updatedAt", value: .string("2026-11-19T08:00:00.5Z")),
          ]),
        FeedItem(
          kind: "Episode", id: "ep:55", revision: 18_199, updatedAt: nil, isDeleted: true,
          deletedAt: Date(timeIntervalSinceReferenceDate: 816_771_600), fields: []),
      ])
    #expect(
      page.users == [
        UserEntry(
          id: "ep:101", revision: 77,
          values: [
            Field(name: "favoriteAt", value: .null),
            Field(name: "watchedAt", value: .string("2026-11-20T10:00:00Z")),
            Field(name: "progress", value: .double(0.42)),
          ])
      ])
  }

  @Test func refusesADocumentThatIsCutAnywhere() throws {
    let bytes = Array(example.utf8)
    for length in 0..<bytes.count {
      #expect(pageError(Array(bytes.prefix(length))) != nil, "cut to \(length) bytes")
    }
    #expect(pageError(bytes) == nil)
  }

  /// A document with one member of the valid head replaced, or removed if `value` is empty.
  private func document(_ member: String, _ value: String) -> String {
    var members = [
      "format": "\"homefeed/1\"", "epoch": "\"e\"", "mode": "\"delta\"", "version": "5",
      "entities": "[]",
    ]
    members[member] = value.isEmpty ? nil : value
    return "{" + members.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}"
  }

  @Test(arguments: [
    ("epoch", ""), ("epoch", "1"), ("epoch", "\"\""), ("mode", ""), ("mode", "\"window\""),
    ("mode", "null"), ("version", ""), ("version", "\"5\""), ("version", "5.0"), ("version", "-1"),
    ("version", "9007199254740992"), ("version", "9223372036854775808"), ("version", "1e400"),
    ("since", "\"4\""), ("entities", ""), ("entities", "{}"), ("entities", "null"),
    ("user", "{}"), ("page", "[]"), ("checkpoint", "17"), ("checkpoint", "\"\""),
  ])
  func refusesADocumentThatBreaksARule(member: String, value: String) {
    let error = pageError(document(member, value))
    #expect(error?.location == "/\(member)")
    #expect(
      error?.code
        == (value.isEmpty || (member == "entities" && value == "null")
          ? .missingMember : .invalidMember))
  }

  @Test(arguments: [#"{"next":7}"#, #"{"next":""}"#, #"{"next":{}}"#])
  func neverTakesADamagedNextForTheLastPage(page: String) {
    #expect(pageError(document("page", page))?.location == "/page/next")
  }

  @Test func limitsTheCheckpointTo2048Bytes() throws {
    let largest = String(repeating: "é", count: 1_024)
    #expect(try parsePage(document("checkpoint", "\"\(largest)\"")).checkpoint == largest)
    #expect(pageError(document("checkpoint", "\"\(largest)x\""))?.location == "/checkpoint")
  }

  @Test func acceptsTheLargestVersion() throws {
    let page = try parsePage(document("version", "9007199254740991"))
    #expect(page.version == 9_007_199_254_740_991)
  }

  @Test(arguments: [
    ("ttl", "\"x\""), ("ttl", "-1"), ("ttl", "1.5"), ("title", "7"), ("ttl", "1e400"),
  ])
  func dropsAndCountsOptionalMembersOfTheWrongType(member: String, value: String) throws {
    let page = try parsePage(document(member, value))
    #expect(page.drift.droppedMembers == 1)
    #expect(page.timeToLive == nil && page.title == nil)
  }

  @Test func countsUnknownMembersAndSkipsExtensions() throws {
    var page = try parsePage(document("colour", #"{"deep":[1,2]}"#))
    #expect(page.drift.unknownMembers == 1)
    page = try parsePage(document("_vendor", "1"))
    #expect(page.drift.unknownMembers == 0)
    page = try parsePage(
      document(
        "entities", #"[{"id":"a","kind":"K","rev":1,"colour":1,"shape":2,"_x":3}]"#))
    #expect(page.drift.unknownMembers == 2)
    #expect(page.items.count == 1)
  }

  @Test(arguments: [
    ("7", "", DocumentError.Code.invalidMember), ("null", "", .invalidMember),
    (#"{"kind":"K","rev":1}"#, "/id", .missingMember),
    (#"{"id":7,"kind":"K","rev":1}"#, "/id", .invalidMember),
    (#"{"id":"","kind":"K","rev":1}"#, "/id", .invalidMember),
    (#"{"id":"a","rev":1}"#, "/kind", .missingMember),
    (#"{"id":"a","kind":null,"rev":1}"#, "/kind", .invalidMember),
    (#"{"id":"a","kind":"K"}"#, "/rev", .missingMember),
    (#"{"id":"a","kind":"K","rev":"1"}"#, "/rev", .invalidMember),
    (#"{"id":"a","kind":"K","rev":1.0}"#, "/rev", .invalidMember),
    (#"{"id":"a","kind":"K","rev":-1}"#, "/rev", .invalidMember),
    (#"{"id":"a","kind":"K","rev":9007199254740992}"#, "/rev", .invalidMember),
    (
      #"{"id":"a","kind":"K","rev":1,"updatedAt":"2026-11-20 10:00:00Z"}"#, "/updatedAt",
      .invalidMember
    ),
    (#"{"id":"a","kind":"K","rev":1,"updatedAt":17}"#, "/updatedAt", .invalidMember),
    (#"{"id":"a","kind":"K","rev":1,"deleted":"yes"}"#, "/deleted", .invalidMember),
    (
      #"{"id":"a","kind":"K","rev":1,"deleted":true,"deletedAt":"x"}"#, "/deletedAt",
      .invalidMember
    ),
    (#"{"id":"a","kind":"K","rev":1,"attrs":[]}"#, "/attrs", .invalidMember),
    (#"{"id":"a","kind":"K","rev":1,"attrs":{"t":"\x"}}"#, "", .invalidString),
    (#"{"id":"a","kind":"K","rev":01}"#, "", .invalidNumber),
    (#"{"id":"a","kind":"K","rev":1,"attrs":{"t":tru}}"#, "", .invalidLiteral),
  ])
  func rejectsOnlyTheItemThatBreaksARule(
    item: String, location: String, code: DocumentError.Code
  ) throws {
    let good = #"{"id":"good","kind":"K","rev":3}"#
    let page = try parsePage(document("entities", "[\(good),\(item),\(good)]"))
    #expect(page.items.map(\.id) == ["good", "good"])
    #expect(page.rejected.map(\.index) == [1])
    #expect(page.rejected.first?.reason.code == code)
    #expect(page.rejected.first?.reason.location == "/entities/1\(location)")
  }

  @Test func namesTheRejectedItem() throws {
    let page = try parsePage(document("entities", #"[{"id":"ep:9","kind":"K"}]"#))
    #expect(page.rejected.first?.id == "ep:9")
  }

  @Test func rejectsTheOneItemWithInvalidUTF8OrTooDeepNesting() throws {
    let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
    let text = document(
      "entities",
      #"[{"id":"a","kind":"K","rev":1},{"id":"~","kind":"K","rev":2},"#
        + #"{"id":"c","kind":"K","rev":3,"attrs":{"x":\#(deep)}},{"id":"d","kind":"K","rev":4}]"#)
    let bytes = text.utf8.map { $0 == UInt8(ascii: "~") ? 0xFF : $0 }
    let page = try parsePage(bytes)
    #expect(page.items.map(\.id) == ["a", "d"])
    #expect(page.rejected.map(\.reason.code) == [.invalidUTF8, .tooDeep])
  }

  @Test func limitsIDsTo512Bytes() throws {
    let ids = [511, 512, 513].map { String(repeating: "x", count: $0) }
    let entities = ids.map { #"{"id":"\#($0)","kind":"K","rev":1}"# }.joined(separator: ",")
    let page = try parsePage(document("entities", "[\(entities)]"))
    #expect(page.items.map(\.id) == Array(ids.prefix(2)))
    #expect(page.rejected.map(\.index) == [2])
  }

  @Test func keepsRepeatedIDsInOrderAndTheLastOfRepeatedNames() throws {
    let page = try parsePage(
      document(
        "entities",
        #"[{"id":"b","kind":"K","rev":2},{"id":"a","kind":"K","rev":1,"rev":7,"#
          + #""attrs":{"t":1,"u":2,"t":3}},{"id":"b","kind":"K","rev":1}]"#))
    #expect(page.items.map(\.id) == ["b", "a", "b"])
    #expect(page.items[1].revision == 7)
    #expect(
      page.items[1].fields == [
        Field(name: "t", value: .int64(3)), Field(name: "u", value: .int64(2)),
      ])
  }

  @Test func readsThousandsOfRepeatedAttributesInLinearTime() throws {
    let attributes = (0..<40_000).map { "\"n\($0 % 20_000)\":\($0)" }.joined(separator: ",")
    let page = try parsePage(
      document(
        "entities", #"[{"id":"a","kind":"K","rev":1,"attrs":{\#(attributes)}}]"#))
    #expect(page.items[0].fields.count == 20_000)
    #expect(page.items[0].fields[3] == Field(name: "n3", value: .int64(20_003)))
  }

  @Test func keepsNULInStringsAndNumbersDigitForDigit() throws {
    let page = try parsePage(
      document(
        "entities",
        #"[{"id":"a\u0000b","kind":"K","rev":1,"attrs":{"t":"x\u0000","n":9223372036854775808,"#
          + #""m":9007199254740993,"e":1e400}}]"#))
    #expect(page.items[0].id == "a\0b")
    #expect(
      page.items[0].fields.map(\.value) == [
        .string("x\0"), .unrepresentable("9223372036854775808"), .int64(9_007_199_254_740_993),
        .unrepresentable("1e400"),
      ])
  }

  @Test func rejectsOnlyTheUserEntryThatBreaksARule() throws {
    let page = try parsePage(
      document(
        "user", #"[{"id":"a","progress":1},{"id":"b","rev":3,"progress":0.5,"_x":1},{"rev":1}]"#))
    #expect(
      page.users == [
        UserEntry(id: "b", revision: 3, values: [Field(name: "progress", value: .double(0.5))])
      ])
    #expect(page.rejectedUsers.map(\.reason.location) == ["/user/0/rev", "/user/2/id"])
    #expect(page.rejected.isEmpty)
  }

  @Test(arguments: [
    ("", "empty", "text/plain"), ("<!DOCTYPE html><html><p>Log in", "HTML", "text/html"),
    ("<?xml version=\"1.0\"?><opml/>", "opml", "application/rss+xml"),
    ("  <html lang=\"en\">", "HTML", "application/json"),
    (#"{"format":"homefeed/2"}"#, "homefeed/2", "a/b"),
    (#"{"version":"https://example.com/1"}"#, "https://example.com/1", "a/b"),
    (#"{"error":"not found","code":404}"#, #""error", "code""#, "a/b"),
    ("{}", "no members", "a/b"), ("[1,2]", "found a JSON array", "a/b"),
  ])
  func reportsWhatItFoundInsteadOfAFeed(text: String, found: String, contentType: String) {
    let error = pageError(text, contentType: contentType)
    #expect(error?.description.contains(found) == true, "\(String(describing: error))")
    #expect(error?.description.contains(contentType) == true)
  }

  @Test func recognizesUTF16AndGzip() {
    let utf16 = example.utf16.flatMap { [UInt8($0 & 0xFF), UInt8($0 >> 8)] }
    #expect(pageError(utf16)?.detail?.contains("UTF-16") == true)
    #expect(pageError([0xFF, 0xFE] + utf16)?.detail?.contains("UTF-16") == true)
    let bigEndian = example.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
    #expect(pageError(bigEndian)?.detail?.contains("UTF-16") == true)
    #expect(pageError([0x1F, 0x8B, 8, 0])?.detail?.contains("gzip") == true)
  }

  @Test func readsADocumentAfterAByteOrderMark() throws {
    #expect(try parsePage("\u{FEFF}" + example) == parsePage(example))
  }

  @Test func survivesRandomDamage() throws {
    let seed: UInt64 = 41
    var numbers = SeededRandom(seed: seed)
    let original = Array(example.utf8)
    let tokens = Array(#"{}[]":,\u0tfn1e-"#.utf8)
    var readable = 0
    for _ in 0..<4_000 {
      var bytes = original
      for _ in 0..<Int.random(in: 1...4, using: &numbers) {
        let position = Int.random(in: 0..<bytes.count, using: &numbers)
        switch Int.random(in: 0..<4, using: &numbers) {
        case 0: bytes[position] ^= 1 << UInt8.random(in: 0..<8, using: &numbers)
        case 1: bytes[position] = tokens.randomElement(using: &numbers) ?? 0
        case 2: bytes.remove(at: position)
        default:
          let length = Int.random(in: 0..<min(40, bytes.count - position), using: &numbers)
          bytes.insert(contentsOf: bytes[position..<position + length], at: position)
        }
      }
      if pageError(bytes) == nil { readable += 1 }
    }
    #expect(readable > 40 && readable < 3_960, "seed \(seed): the damage must vary")
  }
}
