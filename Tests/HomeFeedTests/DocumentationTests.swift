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

  /// The code of README.md, "Change it and watch it".
  @Test func theChangesOfTheReadmeWork() async throws {
    try await withTemporaryStore(migrations: [.homeFeed]) { temporary in
      let store = temporary.store
      let token = try store.historyToken()
      let id = try await store.write { try $0.insert(Episode(id: "mine:1", title: "A walk")) }

      // readme 1
      let draft = store.draft(author: "ui", mergePolicy: .draftWins)
      let walk = try draft.insert(Episode(id: "mine:2", title: "Another walk"))
      try draft.update(Episode.self, id) { $0.progress = 0.5 }
      let identities = try await draft.save()
      // end
      let saved = try #require(identities[walk])
      #expect(try store.read { try $0.get(Episode.self, saved) }?.title == "Another walk")

      var printed: [String] = []
      func print(_ items: Any...) {
        printed.append(items.map { "\($0)" }.joined(separator: " "))
      }
      let episodes = [Episode(id: "mine:3"), Episode(id: "mine:2"), Episode(id: "mine:4")]
      // readme 2
      let outcome = await Repository(store, author: "import").create(episodes)
      for failure in outcome.failed { print(failure.index, failure.error) }
      // end
      #expect(outcome.success.count == 2 && printed.count == 1 && printed[0].hasPrefix("1 "))

      printed = []
      // readme 3
      let (news, now) = try store.read {
        (try $0.history(after: token, of: ["Episode"], exceptBy: "sync"), try $0.historyToken())
      }
      for change in news.flatMap(\.changes) { print(change.kind, change.objectID) }
      try await store.advance(consumer: "search", to: now)
      // end
      #expect(printed.contains("update \(id)") && printed.count == 5)
    }
  }

  @Test func theReadmeShowsTheseChanges() throws {
    let source = try String(contentsOfFile: #filePath, encoding: .utf8)
    let readme = try String(
      contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../README.md"), encoding: .utf8)
    for number in 1...3 {
      let marked = try #require(
        source.range(of: "// readme \(number)\n").map { source[$0.upperBound...] })
      let code = try #require(marked.range(of: "      // end").map { marked[..<$0.lowerBound] })
      let shown = code.split(separator: "\n").map { $0.dropFirst(6) }.joined(separator: "\n")
      #expect(readme.contains("```swift\n\(shown)\n```"), "readme \(number):\n\(shown)")
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

  /// The files of one line in Migrations/README.md follow each other; its lists are steps.
  @Test func theExamplesOfTheMigrationsCanBeRead() throws {
    let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .deletingLastPathComponent().deletingLastPathComponent()
    let text = try String(
      contentsOf: folder.appendingPathComponent("Migrations/README.md"), encoding: .utf8)
    let blocks = text.matches(of: /```yaml\n([\s\S]*?)```/).map { String($0.output.1) }
    let files = blocks.filter { $0.hasPrefix("line: local") }
    let source = MigrationSource(
      embedded: files.enumerated().map { ("000\($0 + 1)_example", Array($1.utf8)) })
    let plan = try MigrationPlan.ofNewStore([.homeFeed, source])
    #expect(Set(plan.steps.map(\.migration)).isSuperset(of: ["0001_example", "0002_example"]))
    for block in blocks where !block.hasPrefix("line: local") {
      let isFile = block.hasPrefix("line: ")
      let file = Array((isFile ? block : "line: local\nsummary: s\nsteps:\n\(block)").utf8)
      let lines = try MigrationLine.load([MigrationSource(embedded: [("0001_example", file)])])
      #expect(lines[0].migrations[0].steps.isEmpty == false)
    }
  }
}
