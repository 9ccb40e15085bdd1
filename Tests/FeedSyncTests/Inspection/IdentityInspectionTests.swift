import FeedDocuments
import FeedTestSupport
import Foundation
import Testing

@testable import FeedSync

/// Tests which members an inspection proposes as the id of items, and the reasons it gives.
@Suite struct IdentityInspectionTests {
  /// Calls `check` with what was found, after it was used to read the document without loss.
  private func expectIdentity(
    _ pointers: [String], of document: String, isHash: Bool = false,
    sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let found = try await inspect(document)
    #expect(found.identity?.pointers == pointers, sourceLocation: sourceLocation)
    #expect(found.identity?.isHash == isHash, sourceLocation: sourceLocation)
    let page = try suggestedPage(of: Array(document.utf8), by: found)
    #expect(page.rejected.isEmpty, sourceLocation: sourceLocation)
    #expect(Set(page.items.map(\.id)).count == found.itemsLookedAt, sourceLocation: sourceLocation)
  }

  @Test(arguments: [
    (
      #"[{"number":0,"ids":{"trakt":1,"tvdb":5}},{"number":1,"ids":{"trakt":2,"tvdb":6}},{"number":2,"ids":{"trakt":3}}]"#,
      "/ids/trakt"
    ),
    (
      #"[{"show":{"title":"S","ids":{"slug":"s"}},"episode":{"title":"E1","ids":{"trakt":11}}},{"show":{"title":"S","ids":{"slug":"s"}},"episode":{"title":"E2","ids":{"trakt":12}}}]"#,
      "/episode/ids/trakt"
    ),
    (
      #"{"chapters":[{"startTime":0,"title":"A","img":"https://e.org/1"},{"startTime":60,"title":"B"},{"startTime":120,"title":"C","img":"https://e.org/2"}]}"#,
      "/startTime"
    ),
    (#"[{"id":1,"sku":"a"},{"id":1,"sku":"b"},{"id":2,"sku":"c"}]"#, "/sku"),
    (#"[{"id":"","slug":"a","title":"A"},{"id":"x","slug":"b","title":"B"}]"#, "/slug"),
    (#"[{"author":{"id":1},"slug":"a"},{"author":{"id":2},"slug":"b"}]"#, "/slug"),
    (#"[{"lat":1.5,"url":"https://e.org/1"},{"lat":2.5,"url":"https://e.org/2"}]"#, "/url"),
    (#"[{"etag":"a","views":1,"name":"A"},{"etag":"b","views":2,"name":"B"}]"#, "/name"),
    (
      #"[{"updated":"2026-01-01T00:00:00Z","name":"A"},{"updated":"2026-01-02T00:00:00Z","name":"B"}]"#,
      "/name"
    ),
    (#"[{"_id":"a","parentId":"p"},{"_id":"b","parentId":"q"}]"#, "/_id"),
    (
      #"{"features":[{"type":"F","geometry":{"type":"Point","coordinates":[1,2]},"properties":{"osm_id":7,"name":"A"}},{"type":"F","geometry":{"type":"Point","coordinates":[3,4]},"properties":{"osm_id":8,"name":"A"}}]}"#,
      "/properties/osm_id"
    ),
  ])
  func aMemberThatAllItemsHaveAndNoneSharesIsTheID(
    _ document: String, _ pointer: String
  ) async throws {
    try await expectIdentity([pointer], of: document)
  }

  @Test func membersOfOneObjectReplaceEachOther() async throws {
    try await expectIdentity(
      ["/id/videoId", "/id/channelId"],
      of: #"""
        [{"id":{"kind":"v","videoId":"a"},"snippet":{"title":"A"}},
         {"id":{"kind":"v","videoId":"b"},"snippet":{"title":"B"}},
         {"id":{"kind":"c","channelId":"c"},"snippet":{"title":"C"}}]
        """#)
  }

  @Test func withoutSuchAMemberTheValuesOfSeveralAreHashed() async throws {
    try await expectIdentity(
      ["/show/slug", "/number"],
      of: #"""
        [{"show":{"slug":"s"},"number":1,"note":"x"},{"show":{"slug":"s"},"number":2,"note":"x"},
         {"show":{"slug":"t"},"number":1,"note":"x"},{"show":{"slug":"t"},"number":2,"note":"y"}]
        """#, isHash: true)
    // More than those of which every pair of members is counted.
    let many = (0..<20_001).map {
      #"{"show":{"slug":"s\#($0 / 150)"},"number":\#($0 % 150),"note":"x"}"#
    }
    try await expectIdentity(
      ["/show/slug", "/number"], of: "[\(many.joined(separator: ","))]", isHash: true)
    let cube = (0..<8).map { #"{"a":"x\#($0 & 1)","b":"x\#($0 >> 1 & 1)","c":"x\#($0 >> 2)"}"# }
    try await expectIdentity(
      ["/a", "/b", "/c"], of: "[\(cube.joined(separator: ","))]", isHash: true)
    try await expectIdentity(
      ["/sys/id", "/sys/type"],
      of: #"""
        [{"sys":{"id":"a","type":"Entry","createdAt":"2026-01-01T00:00:00Z"}},
         {"sys":{"id":"a","type":"Asset","createdAt":"2026-01-02T00:00:00Z"}},
         {"sys":{"id":"b","type":"Asset","createdAt":"2026-01-03T00:00:00Z"}}]
        """#, isHash: true)
    let halves = #"[{"left":"a","n":true},{"right":"a","n":true},{"left":"b"},{"right":"b"}]"#
    try await expectIdentity(["/left", "/right"], of: halves, isHash: true)
  }

  @Test func theReasonHasTheCounts() async throws {
    let found = try await inspect(
      #"""
      [{"number":0,"ids":{"trakt":1,"tvdb":5},"show":{"slug":"s"}},
       {"number":1,"ids":{"trakt":2,"tvdb":6},"show":{"slug":"s"}},
       {"number":2,"ids":{"trakt":3},"show":{"slug":"s"}}]
      """#)
    #expect(found.identity?.text == "/ids/trakt, in 3 of 3 items, all different")
    #expect(found.notIdentity == ["/ids/tvdb: 2 of 3 items have it"])
    #expect(found.candidates.id == ["/ids/trakt"])
    #expect(found.members.first { $0.pointer == "/show/slug" }?.different == 1)
    #expect(found.unconfirmed == [])
  }

  @Test func withoutAnIdentityTheReasonIsGiven() async throws {
    let found = try await inspect(
      #"{"items":[{"a":1,"ok":true},{"a":1,"ok":false},{"b":1},{"b":1,"ok":true}]}"#)
    #expect(found.identity == nil && found.mapping == nil && found.candidates.id == [])
    #expect(
      found.notes == [
        "no member identifies the items, so no mapping can be suggested: "
          + "/a: 2 of 4 items have it, 1 different value; "
          + "/b: 2 of 4 items have it, 1 different value"
      ])
  }

  @Test func allItemsCount() async throws {
    var items = (0..<5_000).map { #"{"id":\#($0),"sku":"s\#($0)"}"# }
    items[4_998] = #"{"id":7,"sku":"x"}"#
    items[4_999] = items[0]
    let found = try await inspect("[\(items.joined(separator: ","))]")
    #expect(found.identity?.pointers == ["/sku"] && found.itemsLookedAt == 4_999)
    #expect(found.notIdentity == ["/id: 4998 different values in 4999 items"])
    #expect(found.notes == ["1 item is exactly the same as an earlier one"])
  }

  @Test func aFewEqualIDsAreBetterThanNone() async throws {
    let items = (0..<20).map { #"{"id":\#($0 / 19 + $0 % 19),"tags":["\#($0)"]}"# }
    let found = try await inspect("[\(items.joined(separator: ","))]")
    #expect(found.identity?.pointers == ["/id"])
    #expect(
      found.unconfirmed.first == "id: several items have the same /id: 19 different in 20 items")
  }

  @Test func aTextThatIsTooLongForAnIDIsNone() async throws {
    let long = String(repeating: "x", count: 600)
    try await expectIdentity(
      ["/name"], of: #"[{"guid":"\#(long)1","name":"A b"},{"guid":"\#(long)2","name":"C d"}]"#)
  }

  @Test func aMemberThatIsThereTwiceCountsOnce() async throws {
    let found = try await inspect(
      #"[{"id":1,"id":3,"name":"A"},{"id":1,"id":4,"name":"B"},{"name":"C"}]"#)
    #expect(found.identity?.pointers == ["/name"])
    #expect(found.notIdentity == ["/id: 2 of 3 items have it"])
  }
}
