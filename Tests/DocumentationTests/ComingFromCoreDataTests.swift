import Foundation
import Mooring
import TestSupport
import Testing

/// The Mooring side of the page "Coming from Core Data or SwiftData", run.
@Suite struct ComingFromCoreDataTests {
  @Test func theNewestTwenty() async throws {
    try await withEpisodes { store in
      // listing
      let recent = try store.fetch(
        FetchDescriptor<Episode>(
          sortBy: [SortDescriptor(\.updatedAt, order: .reverse)], fetchLimit: 20))
      // end
      #expect(recent.map(\.title).prefix(2) == ["Zoë", "episode 10"])
    }
  }

  @Test func thoseOfOneValue() async throws {
    try await withEpisodes { store in
      // listing
      let free = try store.fetch(
        FetchDescriptor(
          predicate: #Predicate<Episode> { $0.isFree },
          sortBy: [SortDescriptor(\.updatedAt, order: .reverse)]))
      // end
      #expect(free.map(\.title) == ["Zoë", "Episode 2"])
    }
  }

  @Test func aFormatStringWithArguments() async throws {
    try await withEpisodes { store in
      // listing
      let begun = try store.fetch(
        FetchDescriptor<Episode>(
          predicate: try FetchPredicate(
            format: "%K != nil && progress != 0", \Episode.watchedAt),
          sortBy: [SortDescriptor(\.watchedAt, order: .reverse)]))
      // end
      #expect(begun.map(\.title) == ["episode 10"])
    }
  }

  @Test func howMany() async throws {
    try await withEpisodes { store in
      // listing
      let count = try store.count(
        FetchDescriptor(predicate: #Predicate<Episode> { $0.isFree }))
      // end
      #expect(count == 2)
    }
  }

  @Test func throughAToOneRelationship() async throws {
    try await withEpisodes { store in
      // listing
      var ofSwift = try FetchDescriptor(
        predicate: #Predicate<Episode> { $0.path?.value?.title == "Swift" },
        sortBy: [SortBy(\.path, \.title), SortBy(\.updatedAt)])
      ofSwift.relationshipKeyPathsForPrefetching = [\.path]
      let episodes = try store.fetch(ofSwift)
      // end
      #expect(episodes.map(\.title) == ["Episode 2", "episode 10"])
      #expect(episodes.map { $0.path?.value?.title } == ["Swift", "Swift"])
    }
  }

  @Test func someOfAToManyRelationship() async throws {
    try await withEpisodes { store in
      // listing
      let withFreeLong = try store.fetch(
        FetchDescriptor(
          predicate: #Predicate<LearningPath> {
            $0.episodes.values?.contains { $0.isFree && $0.duration > 600 } == true
          }))
      // end
      #expect(withFreeLong.map(\.title) == ["Music"])
    }
  }

  @Test func asPeopleSearchAndSort() async throws {
    try await withEpisodes { store in
      // listing
      let found = try store.fetch(
        FetchDescriptor(
          predicate: #Predicate<Episode> {
            $0.title.localizedStandardContains("EPISODE")
              || $0.title.localizedStandardContains("zoe")
          },
          sortBy: [SortBy(\.title, collation: .localizedStandard)]))
      // end
      #expect(found.map(\.title) == ["Episode 2", "episode 10", "Zoë"])
    }
  }

  @Test func totals() async throws {
    try await withEpisodes { store in
      // listing
      var request = Episode.fetchRequest()
      request.propertiesToFetch = [
        .sum("duration", as: "seconds"), .maximum("updatedAt", as: "newest"),
        .count(as: "episodes"),
      ]
      let totals = try store.read { try $0.fetchRows(request) }
      let seconds = try totals[0]["seconds"]
      // end
      #expect(seconds == 2_100)
      #expect(totals.count == 1)
    }
  }

  @Test func groups() async throws {
    try await withEpisodes { store in
      // listing
      var byPath = Episode.fetchRequest()
      byPath.propertiesToGroupBy = ["path.title"]
      byPath.propertiesToFetch = ["path.title", .count(as: "n"), .average("progress", as: "mean")]
      byPath.havingPredicate = try FetchPredicate(format: "n > 1")
      byPath.sortBy = [SortKey("n", descending: true)]
      let groups = try store.read { try $0.fetchRows(byPath) }
      // end
      #expect(groups.map(\.values) == [["Swift", 2, .double(0.25)]])
    }
  }

  @Test func distinctValues() async throws {
    try await withEpisodes { store in
      // listing
      var kinds = Episode.fetchRequest()
      kinds.propertiesToFetch = ["isFree"]
      kinds.returnsDistinctResults = true
      let rows = try store.read { try $0.fetchRows(kinds) }
      // end
      #expect(rows.map(\.values) == [[true], [false]])
    }
  }

  @Test func aTemplateOfTheModel() async throws {
    try await withEpisodes { store in
      // listing
      let request = try store.fetchRequest(
        fromTemplate: "titled", substitutionVariables: ["WORD": "episode"])
      let titled = try store.fetch(request, as: Episode.self)
      // end
      #expect(titled.map(\.title) == ["Episode 2", "episode 10"])
    }
  }

  @Test func inTheBackground() async throws {
    try await withEpisodes { store in
      // listing
      let fetch = try store.fetchAsynchronously(FetchDescriptor<Episode>())
      let all = try await fetch.value
      // end
      #expect(all.count == 3)
    }
  }

  /// The two forms of the page "Predicates".
  @Test func bothFormsOfAPredicateAreOneTree() throws {
    let predicates = [
      // listing
      try FetchPredicate(format: "%K != nil AND progress != 0.0", "watchedAt"),
      try FetchPredicate(#Predicate<Episode> { $0.watchedAt != nil && $0.progress != 0 }),
      // end
    ]
    #expect(predicates[0] == predicates[1])
  }

  // MARK: The model

  // listing
  struct Episode: Entity {
    var title: String
    var isFree: Bool
    var duration: Int64
    var progress: Double
    var updatedAt: Date
    var watchedAt: Date?
    var path: ToOne<LearningPath>?

    static let attributes: [EntityAttribute<Episode>] = [
      .init("title", \.title), .init("isFree", \.isFree), .init("duration", \.duration),
      .init("progress", \.progress), .init("updatedAt", \.updatedAt),
      .init("watchedAt", \.watchedAt),
    ]
    static let relationships: [EntityRelationship<Episode>] = [.init("path", \.path)]
  }
  // end

  struct LearningPath: Entity {
    var title: String
    var episodes = ToMany<Episode>("episodes")

    static let attributes: [EntityAttribute<LearningPath>] = [.init("title", \.title)]
    static let relationships: [EntityRelationship<LearningPath>] = [.init("episodes", \.episodes)]
  }

  private func withEpisodes(_ body: (Store) async throws -> Void) async throws {
    let listing = try #require(
      DocumentationPage.named("ComingFromCoreData").listings("yaml").first)
    let migration = MigrationSource(embedded: [("0001_courses", Array(listing.text.utf8))])
    try await withTemporaryStore(migrations: [migration]) { temporary in
      try temporary.store.require([Episode.self, LearningPath.self])
      try await temporary.store.write { transaction in
        let swift = ToOne<LearningPath>(try transaction.insert(LearningPath(title: "Swift")))
        let music = ToOne<LearningPath>(try transaction.insert(LearningPath(title: "Music")))
        func date(_ day: Double) -> Date { Date(timeIntervalSinceReferenceDate: day * 86_400) }
        try transaction.insert(
          Episode(
            title: "Episode 2", isFree: true, duration: 600, progress: 0, updatedAt: date(1),
            watchedAt: nil, path: swift))
        try transaction.insert(
          Episode(
            title: "episode 10", isFree: false, duration: 300, progress: 0.5, updatedAt: date(2),
            watchedAt: date(9), path: swift))
        try transaction.insert(
          Episode(
            title: "Zoë", isFree: true, duration: 1_200, progress: 0, updatedAt: date(3),
            watchedAt: date(8), path: music))
      }
      try await body(temporary.store)
    }
  }
}

extension ComingFromCoreDataTests.Episode {
  init(from record: inout RecordReader) throws {
    title = try record["title"]
    isFree = try record["isFree"]
    duration = try record["duration"]
    progress = try record["progress"]
    updatedAt = try record["updatedAt"]
    watchedAt = try record["watchedAt"]
    path = try record["path"]
  }
}

extension ComingFromCoreDataTests.LearningPath {
  init(from record: inout RecordReader) throws {
    title = try record["title"]
    episodes = try record["episodes"]
  }
}
