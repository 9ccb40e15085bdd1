import EntityModel
import EntityStore
import Foundation
import HomeFeed
import TestSupport
import Testing

/// What the documentation shows is compiled and run here.
@Suite struct DocumentationTests {
  /// The code of README.md, "Embed it".
  @Test func theExampleOfTheReadmeWorks() async throws {
    try await withTemporaryStore(migrations: [.homeFeed]) { temporary in
      let store = try Store.open(
        at: temporary.store.folder, migrations: [.homeFeed], migrate: .ifEmpty,
        requiring: [Episode.self])

      let type = EpisodeType.free
      let free = try store.fetch(
        FetchDescriptor(
          predicate: #Predicate<Episode> { $0.type == type },
          sortBy: [SortDescriptor(\.updatedAt, order: .reverse)], fetchLimit: 20))
      #expect(free.isEmpty)

      let id = try await store.write(author: "ui") { transaction in
        try transaction.insert(Episode(id: "mine:1", title: "A walk"))
      }
      try await store.write { transaction in
        try transaction.update(Episode.self, id) { $0.favoriteAt = Date() }
      }
      #expect(try ContentStore(store).loadFavoriteEpisodes(count: 10).map(\.id) == ["mine:1"])
      let plan = try store.explain(
        FetchDescriptor<Episode>(sortBy: [SortDescriptor(\.updatedAt)]))
      #expect(plan.description.contains("index byUpdate (updatedAt desc), backward"))
    }
  }

  /// The file that Migrations/README.md shows is a migration.
  @Test func theExampleOfTheMigrationsIsOne() async throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(
      contentsOf: folder.appendingPathComponent("Migrations/README.md"), encoding: .utf8)
    let yaml = try #require(text.firstMatch(of: /```yaml\n([\s\S]*?)```/)).output.1
    let example = MigrationSource(embedded: [("0001_notes", Array(yaml.utf8))])
    try await withTemporaryStore(migrations: [.homeFeed, example]) { temporary in
      try await temporary.store.write { transaction in
        try transaction.insert("Bookmark", ["slug": "a-b", "createdAt": .date(transaction.now)])
      }
      let bookmark = try temporary.store.read { try $0.get("Bookmark", by: ["slug": "a-b"]) }
      #expect(try bookmark?["tags"] == .strings([]))
    }
  }
}
