import EntityModel
import EntityStore
import FeedDocuments
import FeedTestSupport
import Foundation
import HomeFeed
import Migrations
import Testing

@testable import FeedSync

/// The names of attributes that an inspection proposes, and the members for titles and dates.
@Suite struct NamesInspectionTests {
  @Test func noNewAttributeHasTheNameOfAnotherProperty() async throws {
    let document = #"""
      {"items":[{"id":1,"name":"A","path":"/x","progress":1,"favoriteAt":"x","feedID":7,
        "feed_hash":"p","type":"q","Position":"first","extra":"e"},
       {"id":2,"name":"B","path":"/y","progress":2,"favoriteAt":"y","feedID":8,
        "feed_hash":"r","type":"s","Position":"last","extra":"f"}]}
      """#
    let found = try await inspect(document)
    let schema = try TestSchema.homeFeed.get()
    let episode = try #require(schema.entity(named: "Episode"))
    let taken = (episode.attributes.map(\.name) + episode.relationships.map(\.name))
      .map { $0.lowercased() }
    #expect(taken.contains("path"))
    #expect(found.newAttributes.allSatisfy { !taken.contains($0.lowercased()) })
    #expect(found.newAttributes.contains("feedPath"))
    #expect(Set(found.newAttributes).count == found.newAttributes.count)
    let values = try suggestedPage(of: Array(document.utf8), by: found).items[0].values
    #expect(values["feedPath"] == .string("/x") && values["progress"] == nil)
    #expect(values["feedType"] == .string("q"))
    _ = try suggestedPage(of: Array(document.utf8), by: found, isWhole: false)
  }

  @Test func aMemberGoesToTheAttributeOfItsNameAndType() async throws {
    let document = #"""
      [{"id":1,"position":4,"path_id":"p1","Duration":9},
       {"id":2,"position":5,"path_id":"p2","Duration":8}]
      """#
    let found = try await inspect(document)
    #expect(found.newAttributes == ["extra"])
    let values = try suggestedPage(of: Array(document.utf8), by: found).items[0].values
    #expect(values["position"] == .int64(4) && values["pathID"] == .string("p1"))
  }

  @Test func aRelationshipNamedExtraTakesNoMembers() async throws {
    var episode = try #require(try TestSchema.homeFeed.get().entity(named: "Episode"))
    let path = try #require(episode.relationships.first)
    for name in ["extra", "title", "summary"] {
      var other = path
      other.name = name
      episode.relationships.append(other)
    }
    episode.attributes.removeAll { $0.name == "title" || $0.name == "summary" }
    #expect(SuggestedFeedMapping.extra(in: episode) == nil)
    var names = AttributeNames(episode)
    #expect(!names.take(new: "title") && !names.take(existing: "title", .string))
    let summary = MemberStep.member("summary")
    #expect(names.takeNew(for: MemberProfile(steps: [summary])) == "feedSummary")
    #expect(names.takeNew(for: MemberProfile(steps: [.member("a"), summary])) == "aSummary")
  }

  @Test func whatMostItemsHaveIsBetterThanABetterName() async throws {
    let items = (0..<10).map { number in
      let published = number == 0 ? "2026-01-01T10:00:00Z" : "soon"
      return #"{"id":\#(number),"name":"N \#(number)","show":{"title":"S"},"#
        + #""published":"\#(published)","created":"2026-01-0\#(number % 9 + 1)T10:00:00Z""#
        + (number == 0 ? #","title":"T","updated":"2026-02-01T00:00:00Z"}"# : "}")
    }
    let found = try await inspect("[\(items.joined(separator: ","))]")
    #expect(found.candidates.title.first == "/name")
    #expect(found.candidates.publishedAt == ["/created"])
    #expect(found.mapping?.contains("\nupdatedAt: [/updated, /created]\n") == true)
    let episodes = try await inspect(
      #"[{"show":{"title":"S"},"episode":{"title":"A"}},{"show":{"title":"S"},"episode":{"title":"B"}}]"#
    )
    #expect(episodes.candidates.title == ["/episode/title", "/show/title"])
  }

  @Test(arguments: [
    (#"[{"id":1,"t":"x"},{"id":2,"t":"y"}]"#, "$[*]", 2),
    (
      #"{"data":[{"id":1,"name":"x"}],"links":[{"rel":"a"},{"rel":"b"},{"rel":"c"}]}"#,
      "$.data[*]", 1
    ),
    (#"{"items":{"a1":{"title":"A"},"a2":{"title":"B"}}}"#, "$.items.*", 2),
    (#"{"tt001":{"name":"A"},"tt002":{"name":"B"}}"#, "$.*", 2),
    (
      #"{"days":[{"date":"2026-01-01","shows":[{"id":1,"title":"A"},{"id":2,"title":"B"}]},{"date":"2026-01-02","shows":[{"id":3,"title":"C"}]}]}"#,
      "$.days[*].shows[*]", 3
    ),
    (
      #"{"results":[{"id":1,"title":"A","items":[{"id":7,"name":"x"},{"id":8,"name":"y"}]}]}"#,
      "$.results[*]", 1
    ),
    (#"[[{"id":1,"title":"A"}],[{"id":2,"title":"B"}]]"#, "$[*][*]", 2),
    (
      #"{"type":"FeatureCollection","bbox":[1,2,3,4],"features":[{"id":"a","properties":{"name":"A"},"geometry":{"coordinates":[[1,2],[3,4]]}},{"id":"b","properties":{"name":"B"},"geometry":{"coordinates":[]}}]}"#,
      "$.features[*]", 2
    ),
    (
      #"{"took":3,"hits":{"total":{"value":2},"hits":[{"_id":"a","_source":{"title":"A"}},{"_id":"b","_source":{"title":"B"}}]}}"#,
      "$.hits.hits[*]", 2
    ),
  ])
  func theItemsAreFound(_ document: String, _ path: String, _ count: Int) async throws {
    let found = try await inspect(document)
    #expect(found.path == path && found.items == count)
    let page = try suggestedPage(of: Array(document.utf8), by: found)
    #expect(page.items.count == count && page.rejected.isEmpty)
  }

  @Test func linksAreNoItems() async throws {
    let found = try await inspect(
      #"{"links":{"self":{"href":"/a"},"next":{"href":"/b"}},"meta":{"page":{"n":1}}}"#)
    #expect(found.path == nil)
  }
}
