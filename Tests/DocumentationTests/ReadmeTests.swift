import Foundation
import Mooring
import TestSupport
import Testing

/// The code of README.md, compiled and run.
@Suite struct ReadmeTests {
  /// The code of README.md, "Embed it".
  @Test func theExampleOfTheReadmeWorks() async throws {
    try await withTemporaryStore(migrations: [.homeFeed]) { temporary in
      let folder = temporary.store.folder
      var printed: [String] = []
      func print(_ items: Any...) { printed.append(items.map { "\($0)" }.joined()) }
      // listing
      let store = try Store.open(
        at: folder, migrations: [.homeFeed], migrate: .ifEmpty, requiring: [Episode.self])

      let type = EpisodeType.free
      let free = try store.fetch(
        FetchDescriptor(
          predicate: #Predicate<Episode> { $0.type == type },
          sortBy: [SortDescriptor(\.updatedAt, order: .reverse)], fetchLimit: 20))

      let id = try await store.write(author: "ui") { transaction in
        try transaction.insert(Episode(id: "mine:1", title: "A walk"))
      }
      try await store.write { transaction in
        try transaction.update(Episode.self, id) { $0.favoriteAt = Date() }
      }
      print(try ContentStore(store).loadFavoriteEpisodes(count: 10))
      print(try store.explain(FetchDescriptor<Episode>(sortBy: [SortDescriptor(\.updatedAt)])))
      // end
      #expect(free.isEmpty && printed.count == 2 && printed[0].contains("mine:1"))
      #expect(printed.last?.contains("index byUpdate (updatedAt desc), backward") == true)
    }
  }

  /// The code of README.md, "Embed it", on changes.
  @Test func theChangesOfTheReadmeWork() async throws {
    try await withTemporaryStore(migrations: [.homeFeed]) { temporary in
      let store = temporary.store
      let token = try store.historyToken()
      let id = try await store.write { try $0.insert(Episode(id: "mine:1", title: "A walk")) }

      // listing
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
      // listing
      let outcome = await Repository(store, author: "import").insert(episodes)
      for failure in outcome.failed { print(failure.index, failure.error) }
      // end
      #expect(outcome.success.count == 2 && printed.count == 1 && printed[0].hasPrefix("1 "))

      printed = []
      // listing
      let (news, now) = try store.read {
        (try $0.history(after: token, of: ["Episode"], exceptBy: "sync"), try $0.historyToken())
      }
      for change in news.flatMap(\.changes) { print(change.kind, change.objectID) }
      try await store.advance(consumer: "search", to: now)
      // end
      #expect(printed.contains("update \(id)") && printed.count == 5)
    }
  }
}
