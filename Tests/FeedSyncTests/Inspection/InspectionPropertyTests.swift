import EntityModel
import EntityStore
import FeedDocuments
import FeedTestSupport
import Foundation
import Migrations
import TestSupport
import Testing

@testable import FeedSync

/// Proposals for generated documents: each is accepted, and reads the document without loss.
@Suite struct InspectionPropertyTests {
  @Test(arguments: 0..<8)
  func aProposalReadsItsDocumentWithoutLoss(_ seed: Int) async throws {
    var generator = DocumentGenerator(seed: UInt64(seed))
    var proposals = 0
    for number in 0..<50 {
      let document = generator.document()
      let found = try await inspect(
        document.text, entity: number.isMultiple(of: 3) ? "Talk" : "Episode")
      let place: Comment = "seed \(seed), \(number): \(document.text)"
      guard found.mapping != nil else {
        #expect(!document.isDistinguishable, place)
        #expect(found.notes.contains { $0.hasPrefix("no member identifies") }, place)
        continue
      }
      proposals += 1
      let identity = try #require(found.identity, place)
      // An entity that does not exist yet needs the migration.
      for isWhole in found.entity == "Talk" ? [true] : [true, false] {
        let page = try suggestedPage(
          of: Array(document.text.utf8), by: found, isWhole: isWhole)
        #expect(page.items.count + page.rejected.count == found.items, place)
        #expect(page.rejected.isEmpty == (identity.present == found.itemsLookedAt), place)
        #expect(Set(page.items.map(\.id)).count == identity.different, place)
        #expect(page.items.allSatisfy { $0.id.utf8.count <= 512 }, place)
        #expect(!isWhole || page.drift.unknownMembers == 0, place)
      }
      if document.isDistinguishable {
        #expect(identity.different == found.itemsLookedAt, place)
      }
      let isPerfect = identity.different == found.itemsLookedAt
      let doubts = found.unconfirmed.filter { $0.hasPrefix("id: ") || $0.hasPrefix("identity: ") }
      #expect(isPerfect || doubts.count == 1, place)
    }
    #expect(proposals > 25)
  }

  @Test(arguments: [
    #"{"items":[{"id":1,"name":"A","path":"/x"},{"id":2,"name":"B","path":"/y"}]}"#,
    #"{"chapters":[{"startTime":0,"title":"A","img":"https://e.org/1"},{"startTime":60,"title":"B"}]}"#,
    #"[{"number":0,"ids":{"trakt":1,"tvdb":5}},{"number":1,"ids":{"trakt":2}}]"#,
    #"[{"show":{"slug":"s"},"null":1},{"show":{"slug":"s"},"null":2},{"show":{"slug":"t"},"null":1}]"#,
    #"[{"id":"a","true":"x","episodes":[{"n":1}],"0":["p","q"]},{"id":"b","true":"y","0":["r"]}]"#,
  ])
  func eachItemBecomesARecordAndTheNextSyncWritesNothing(_ document: String) async throws {
    let found = try await inspect(document)
    let migration = try #require(found.migration)
    let mapping = FeedMappingText(try #require(found.wholeMapping), file: "suggested.yaml")
    let source = MigrationSource(embedded: [("0001_suggested", Array(migration.utf8))])
    try await withSync(migrations: [source]) { sync async throws in
      try await Feeds(sync.store).add(SyncFixture.url, .init(mapping: mapping))
      sync.serve(.page(document), .page(document))
      let report = try await sync.sync()
      #expect(report.new == found.items && report.rejected == 0, "\(report.rejections)")
      #expect(report.dropped == 0 && report.unknownMembers == 0 && report.typeChanges.isEmpty)
      sync.clock.advance(by: 86_400)
      let second = try await sync.sync()
      #expect(second.new == 0 && second.changed == 0)
    }
  }
}

/// Documents with items of many kinds of members, some of which distinguish the items.
private struct DocumentGenerator {
  struct Document {
    var text: String
    /// True if one or two members are different for all items.
    var isDistinguishable: Bool
  }

  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  private static let names = [
    "id", "ID", "_id", "guid", "name", "title", "Title", "path", "episodes", "extra", "feedID",
    "feed_id", "feedHash", "feedRevision", "updatedAt", "updated_at", "favoriteAt", "progress",
    "type", "position", "pathID", "url", "link", "duration", "publishedAt", "created", "class",
    "self", "in", "and", "null", "true", "3d", "ключ", "", "a b", "a/b", "a~b", "0", "number",
    "startTime", "views", "etag", "deleted", "revision", "summary", "tags", "image",
  ]
  private static let wraps = [
    ("", ""), (#"{"items":"#, "}"), (#"{"page":1,"data":{"results":"#, "}}"),
    (#"{"self":[{"x":true}],"entries":"#, "}"),
  ]

  private mutating func below(_ bound: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(bound))
  }

  mutating func document() -> Document {
    let count = 1 + below(12)
    var names = Self.names
    let members = (0..<(1 + below(8))).map { _ in
      (names.remove(at: below(names.count)), below(14))
    }
    let unique = below(4)
    var items = (0..<count).map { number in
      var parts = members.compactMap { name, kind in
        value(kind, number).map { member(name, $0, isNested: kind.isMultiple(of: 5)) }
      }
      if unique == 1 { parts.append(member("sku", "\"s\(number)\"", isNested: false)) }
      if unique == 2 {
        parts += [
          member("shelf", "\"s\(number / 4)\"", isNested: true),
          member("slot", "\"\(number % 4)\"", isNested: false),
        ]
      }
      return "{" + parts.joined(separator: ",") + "}"
    }
    if below(3) == 0 { items.append(items[below(items.count)]) }
    let (start, end) = Self.wraps[below(Self.wraps.count)]
    return Document(
      text: start + "[" + items.joined(separator: ",") + "]" + end,
      isDistinguishable: unique == 1 || unique == 2)
  }

  private func member(_ name: String, _ value: String, isNested: Bool) -> String {
    isNested ? "\"\(name)\":{\"inner\":\(value)}" : "\"\(name)\":\(value)"
  }

  /// Returns the value of an item's member; nil if the item lacks it.
  private mutating func value(_ kind: Int, _ number: Int) -> String? {
    switch kind {
    case 0: String(number)
    case 1: String(below(3))
    case 2: "\"t \(below(100))\""
    case 3: below(2) == 0 ? nil : "\"u\(number)\""
    case 4: below(2) == 0 ? "null" : String(number)
    case 5: "\"https://e.org/\(below(20))\""
    case 6: "\"2026-01-\(10 + below(20))T10:00:00Z\""
    case 7: "\(below(9)).\(1 + below(9))"
    case 8: below(2) == 0 ? "true" : "false"
    case 9: below(2) == 0 ? "\"\"" : "\"x\(number)\""
    case 10: "\"" + String(repeating: "long ", count: 30 + below(200)) + "\(number)\""
    case 11: "[\"a\",\"\(below(5))\"]"
    case 12: "[{\"id\":\(below(5)),\"n\":\"x\"}]"
    default: below(2) == 0 ? String(number) : "\"\(number)\""
    }
  }
}
