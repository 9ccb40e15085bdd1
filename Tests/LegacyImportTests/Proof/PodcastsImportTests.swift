import EntityModel
import EntityStore
import Foundation
import LegacyImport
import TestSupport
import Testing

/// A generated Core Data file, with expected values that were read from it by hand.
@Suite(.enabled(if: LegacyStores.isHere, "\(LegacyStores.skipped)"))
struct PodcastsImportTests {
  @Test(arguments: ["synthetic/Podcasts.sqlite", "synthetic/PodcastsWal.sqlite"])
  func recordsHaveTheValuesOfTheFile(file: String) async throws {
    try await withProposedImport(of: LegacyStores.path(file)) { proposed in
      let report = try proposed.run()
      #expect(report.isBalanced, "\(problems(of: report))")
      let store = proposed.store
      func first(_ entity: String, _ attribute: String, _ value: String) throws -> Record {
        var request = FetchRequest(entityName: entity)
        request.predicate = try FetchPredicate(format: "\(attribute) == %@", value)
        return try #require(try store.read { try $0.fetch(request) }.first)
      }
      func related(_ record: Record, _ name: String, _ attribute: String) throws -> [String] {
        try store.read { snapshot in
          try snapshot.related(record.id, name).map { try snapshot.get($0)?[attribute].text ?? "" }
        }
      }
      let item = try first("Item", "guid", "g-1")
      #expect(try item["title"] == .string("日本語の回 1"))
      #expect(
        try item["publishedAt"] == .date(Date(timeIntervalSinceReferenceDate: 725_842_800)))
      #expect(
        try item["identifier"]
          == .uuid(
            try #require(UUID(uuidString: "00000000-0000-0001-0000-000000000001"))))
      #expect(try item["price"] == .decimal(try #require(Decimal(string: "9.99"))))
      #expect(try item["isRead"] == .bool(true) && item["internalScore"] == .double(1.0 / 7))
      #expect(try related(item, "feed", "title") == ["Feed 2 חדשות"])
      let later = try first("Item", "guid", "g-3")
      #expect(
        try later["publishedAt"] == .date(Date(timeIntervalSinceReferenceDate: 725_835_600.25)))
      #expect(try later["price"] == .decimal(3))
      // Of the order of a list, and of both ends of it.
      let list = try first("Playlist", "name", "List 1")
      let guids = try related(list, "episodes", "guid")
      #expect(guids.prefix(5) == ["g-72", "g-13", "g-95", "g-32", "g-172"] && guids.count == 20)
      #expect(
        try related(try first("Item", "guid", "g-32"), "playlists", "name").contains("List 2"))
      let person = try first("Person", "name", "Person 3")
      #expect(try related(person, "friends", "name") == ["Person 4"])
      // Two of the feeds have their artwork in files.
      let artwork = try store.read {
        try $0.fetch(FetchRequest(entityName: "Feed")).map { record -> Int in
          if case .data(let data) = try record["artwork"] { data.count } else { 0 }
        }
      }
      #expect(artwork.count == 5 && artwork.dropFirst(2).prefix(2) == [500, 500])
      let files = try #require(report.externalFiles)
      #expect(files.referenced == 2 && files.found == 2)
      #expect(files.missing == 0 && files.orphaned == 0)
    }
  }

  @Test func aMissingFileCostsTheValueAloneAndAnUnreferencedOneIsCounted() async throws {
    try await withProposedImport(of: LegacyStores.path("variants/coredata/external/Ext.sqlite")) {
      proposed in
      let (plan, _) = try proposed.plan()
      let report = try proposed.run()
      #expect(report.isBalanced, "\(problems(of: report))")
      expectSameBalance(plan, report)
      let rejects = try proposed.rejects().filter {
        $0.table == "ZFEED" && $0.code != "row_rejected"
      }
      #expect(
        Set(rejects.map { "\($0.key) \($0.code)" })
          == ["2 external_missing", "4 external_unsafe", "5 external_unknown"], "\(rejects)")
      let feeds = try #require(report.tables.first { $0.name == "ZFEED" })
      #expect(feeds.rejected == 2, "\(feeds)")
      let files = try #require(report.externalFiles)
      #expect(files.found == 1 && files.missing == 1 && files.orphaned == 1)
    }
  }
}
