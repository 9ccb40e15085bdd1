import EntityModel
import FeedDocuments
import FeedTestSupport
import Foundation
import Testing

@testable import FeedSync

/// Recorded answers of three APIs and real feeds: what is suggested for them reads them.
@Suite struct InspectionCorpusTests {
  @Test(.enabled(if: FeedCorpora.folder != nil, "needs ../shared/corpora beside the package"))
  func whatIsSuggestedForAnAPIMapsItsItems() async throws {
    var documents = 0
    var items = 0
    var titled = 0
    for line in try FeedCorpora.lines(of: "mapped.jsonl") {
      let expected = try #require(try JSONSerialization.jsonObject(with: line) as? [String: Any])
      let file = try #require(expected["file"] as? String)
      let entities = try #require(expected["entities"] as? [[String: Any]])
      if entities.isEmpty { continue }
      let document = try FeedCorpora.bytes(of: file)
      let found = try await inspect(document)
      try #require(found.mapping != nil, "\(file): \(found.notes)")
      let page = try suggestedPage(of: document, by: found)
      #expect(page.items.count >= entities.count, "\(file)")
      #expect(page.rejected.isEmpty, "\(file): \(page.rejected)")
      let isDoubtful = found.unconfirmed.contains { $0.hasPrefix("id: several items") }
      #expect(isDoubtful || Set(page.items.map(\.id)).count == page.items.count, "\(file)")
      #expect(page.drift.unknownMembers == 0, "\(file): \(page.drift.unknownNames)")
      let part = try suggestedPage(of: document, by: found, isWhole: false)
      #expect(part.rejected.isEmpty, "\(file): \(part.rejected)")
      let texts = Set(page.items.compactMap { $0.values["title"]?.text })
      let wanted = entities.compactMap { $0["title"] as? String }
      #expect(wanted.allSatisfy(texts.contains), "\(file)")
      (documents, items, titled) = (documents + 1, items + page.items.count, titled + wanted.count)
    }
    #expect(documents > 40)
    print("\(items) items of \(documents) documents, \(titled) of them with a title that is known")
  }

  @Test(.enabled(if: FeedCorpora.folder != nil, "needs ../shared/corpora beside the package"))
  func eachJSONOfAnAPIIsReadWithoutLossOrTheReasonIsGiven() async throws {
    var (mapped, others) = (0, 0)
    for file in try FeedCorpora.files(in: ["youtube", "tmdb", "contentful"], ending: ".json")
    where !file.hasSuffix(".meta.json") {
      let document = try FeedCorpora.bytes(of: file)
      guard let found = try? await inspect(document) else { continue }
      guard let identity = found.identity, found.builtIn == nil else {
        #expect(found.builtIn != nil || !found.notes.isEmpty, "\(file)")
        others += 1
        continue
      }
      mapped += 1
      let page = try suggestedPage(of: document, by: found)
      #expect(page.rejected.isEmpty, "\(file): \(page.rejected)")
      #expect(Set(page.items.map(\.id)).count == identity.different, "\(file)")
      #expect(page.drift.unknownMembers == 0, "\(file): \(page.drift.unknownNames)")
      let isWhole = identity.different == found.itemsLookedAt
      #expect(isWhole || found.unconfirmed.contains { $0.hasPrefix("id") }, "\(file)")
    }
    print("\(mapped) documents with items, \(others) without")
  }

  @Test(
    .enabled(if: FeedCorpora.folder != nil, "needs ../shared/corpora beside the package"),
    arguments: [
      ("netnewswire/json/DaringFireball.json", "JSON Feed", "json-feed/1.1"),
      ("netnewswire/xml/atp.rss", "RSS", "rss/2.0"),
      ("netnewswire/xml/qemu.atom", "Atom", "atom/1.0"),
    ])
  func aRealFeedIsReadByItsOwnMappingAsByTheBuiltInOne(
    _ file: String, _ format: String, _ builtIn: String
  ) async throws {
    let document = try FeedCorpora.bytes(of: file)
    let found = try await inspect(document, contentType: "text/plain")
    #expect(found.format == format && found.builtIn == builtIn && found.items > 0)
    let own = try suggestedPage(of: document, by: found)
    #expect(own.items.count == found.items && own.rejected.isEmpty)
    let mappings = try FeedMappings(
      nil, schema: try TestSchema.homeFeed.get(), entity: "Episode")
    var source = DocumentSource()
    source.url = "https://api.example/v1/talks"
    let same = try withPadding(document) { bytes throws(DocumentError) in
      try FeedPage.parse(bytes, source, by: mappings)
    }
    #expect(own.items.map(\.id) == same.items.map(\.id))
    #expect(own.items.map { $0.values["title"] } == same.items.map { $0.values["title"] })
  }
}
