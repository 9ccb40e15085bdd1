import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore
@testable import HomeFeed

/// The six loads, compared with lists computed by the test.
@Suite struct ContentStoreTests {
  @Test func everyLoadReturnsTheExpectedRecords() async throws {
    try await withTemporaryStore(seed: 91, migrations: [.homeFeed]) { temporary in
      let (content, episodes, paths) = try await Self.fill(temporary)
      for count in [0, 1, 7, 1_000] {
        for (name, load, isIn, date) in Self.loads(content) {
          let expected = episodes.filter(isIn).stableSorted { date($0) > date($1) }.prefix(count)
          #expect(try load(count) == Array(expected), "\(name), \(count)")
        }
        let expected = paths.stableSorted { date($0.updatedAt) > date($1.updatedAt) }
        #expect(try content.loadLearningPath(count: count) == Array(expected.prefix(count)))
        for path in paths {
          let members = episodes.filter { $0.pathID == path.id && $0.position != nil }
            .stableSorted { $0.position! < $1.position! }
          #expect(try content.loadEpisodes(of: path, count: count) == Array(members.prefix(count)))
        }
      }
    }
  }

  @Test func aNegativeCountThrows() async throws {
    try await withTemporaryStore(migrations: [.homeFeed]) { temporary in
      let content = try ContentStore(temporary.store)
      for (name, load, _, _) in Self.loads(content) {
        #expect(throws: ContentStoreError.negativeCount(-1), "\(name)") { try load(-1) }
      }
      #expect(throws: ContentStoreError.negativeCount(-3)) {
        try content.loadLearningPath(count: -3)
      }
      #expect(throws: ContentStoreError.negativeCount(-1)) {
        try content.loadEpisodes(of: LearningPath(id: "p"), count: -1)
      }
    }
  }

  @Test func theContentOfAnEpisodeIsReadByItsOwnLoad() async throws {
    try await withTemporaryStore(migrations: [.homeFeed]) { temporary in
      let content = try ContentStore(temporary.store)
      var (own, other) = (Episode(id: "e"), Episode(id: "e"))
      other.feedID = 2
      try await temporary.store.write { [own, other] transaction in
        try transaction.insert(own)
        let id = try transaction.insert(other)
        try transaction.update(EpisodeContent.self, id) {
          $0.contentHTML = "<p>Hi</p>"
          $0.authors = ["Jo"]
          $0.mediaBytes = 7
        }
      }
      #expect(try content.loadContent(of: own)?.contentHTML == nil)
      let found = try #require(try content.loadContent(of: other))
      #expect(found.contentHTML == "<p>Hi</p>" && found.authors == ["Jo"])
      #expect(found.mediaBytes == 7 && found.feedID == 2)
      own.id = "f"
      #expect(try content.loadContent(of: own) == nil)
    }
  }

  @Test func theStoreReportsWhetherAnythingIsCached() async throws {
    try await withTemporaryStore(migrations: [.homeFeed]) { temporary in
      let content = try ContentStore(temporary.store)
      #expect(try !content.cacheExist())
      let path = try await temporary.store.write { try $0.insert(LearningPath(id: "p")) }
      #expect(try content.cacheExist())
      try await temporary.store.write { transaction in
        try transaction.delete(path)
        try transaction.insert(Episode(id: "e"))
      }
      #expect(try content.cacheExist())
      try await temporary.store.write { _ = try $0.delete(ObjectID(entity: "Episode", number: 1)) }
      #expect(try !content.cacheExist())
    }
  }

  @Test func aBrokenStoreThrowsAndIsNotMistakenForAnEmptyOne() async throws {
    try await withTemporaryFolder { folder in
      let store = try openStore(at: folder.path("store"), migrations: [.homeFeed])
      let path = LearningPath(id: "p")
      try await store.write { transaction in
        try transaction.insert(path)
        var episode = Episode(id: "e")
        episode.type = .free
        (episode.favoriteAt, episode.watchLaterAt, episode.watchedAt) = (.now, .now, .now)
        (episode.progress, episode.pathID, episode.position) = (0.5, "p", 1)
        try transaction.insert(episode)
      }
      let content = try ContentStore(store)
      for (name, load, _, _) in Self.loads(content) { #expect(try load(9).count == 1, "\(name)") }
      #expect(try content.loadEpisodes(of: path, count: 9).count == 1)

      let trees = try ["Episode", "LearningPath"].map { try store.catalog().entity($0).tree }
      try store.runAlone { transaction in
        for tree in trees {
          try RecordKey.with(1) { key in
            try [UInt8]([255, 255]).withUnsafeBytes {
              try transaction.put(tree, key: key, value: $0)
            }
          }
        }
      }
      for (name, load, _, _) in Self.loads(content) {
        #expect(throws: StoreError.self, "\(name)") { try load(9) }
      }
      #expect(throws: StoreError.self) { try content.loadLearningPath(count: 9) }
      #expect(throws: StoreError.self) { try content.loadEpisodes(of: path, count: 9) }

      // Whether there is anything needs no record, but the pages that count them.
      let file = URL(fileURLWithPath: folder.path("store/data.mdb"))
      let pages = try Data(contentsOf: file)
      let broken = folder.path("broken")
      try FileManager.default.createDirectory(atPath: broken, withIntermediateDirectories: true)
      try (pages.prefix(8_192) + Data(count: pages.count - 8_192)).write(
        to: URL(fileURLWithPath: broken + "/data.mdb"))
      #expect(throws: StoreError.self) {
        try ContentStore(try openStore(at: broken, migrations: [.homeFeed])).cacheExist()
      }
    }
  }

  @Test func aStoreWithoutTheSchemaIsRefused() async throws {
    try await withTemporaryStore(migrations: [.model]) { temporary -> Void in
      #expect(throws: StoreError.self) { _ = try ContentStore(temporary.store) }
    }
  }

  @Test func valuesAreLoadedInTheOrderOfAnAttributeOrOfAClosure() async throws {
    try await withTemporaryStore(seed: 92, migrations: [.homeFeed]) { temporary in
      let (content, episodes, _) = try await Self.fill(temporary)
      let byID: [Episode] = try content.load(by: \.id, order: .reverse)
      #expect(
        byID
          == episodes.stableSorted {
            Array($0.id.utf8).lexicographicallyPrecedes(Array($1.id.utf8))
          }.reversed())
      let byTitle: [Episode] = try content.load(by: \.title)
      #expect(byTitle.map { $0.title ?? "" } == episodes.map { $0.title ?? "" }.sorted())
      let byProgress: [Episode] = try content.load(by: \.progress) { $0 > $1 }
      #expect(byProgress.map(\.progress) == episodes.map(\.progress).sorted(by: >))
      let paths: [LearningPath] = try content.load(by: \.updatedAt, order: .reverse)
      #expect(try paths == content.loadLearningPath(count: 1_000))
    }
  }

  @Test func eachLoadIsServedByAnIndexAndSortsNothing() async throws {
    try await withTemporaryStore(migrations: [.homeFeed]) { temporary in
      let requests: [(String, FetchPredicate?, String)] = [
        ("byUpdate", nil, "updatedAt"),
        ("byFavorite", .isNotNull("favoriteAt"), "favoriteAt"),
        ("byWatchLater", .isNotNull("watchLaterAt"), "watchLaterAt"),
        ("byType", .comparison("type", .equal, 1), "updatedAt"),
        (
          "byWatched", .isNotNull("watchedAt") && .comparison("progress", .notEqual, 0.0),
          "watchedAt"
        ),
      ]
      for (index, predicate, sort) in requests {
        let plan = try temporary.store.read {
          try $0.explain(
            FetchRequest(
              entityName: "Episode", predicate: predicate,
              sortBy: [SortKey(sort, descending: true)], fetchLimit: 10, requiresIndex: true))
        }
        guard plan.indexes.map(\.name) == [index], !plan.indexes[0].isReversed else {
          Issue.record("\(index) does not serve: \(plan)")
          continue
        }
        #expect(!plan.sortsInMemory)
        // Only what was watched needs a look at the record.
        #expect((plan.filter != nil) == (index == "byWatched"))
      }
    }
  }

  // MARK: A home feed, and its lists

  private typealias Load = (
    name: String, load: (Int) throws -> [Episode], isIn: (Episode) -> Bool, date: (Episode) -> Date
  )

  private static func loads(_ content: ContentStore) -> [Load] {
    [
      ("recent", content.loadRecentUpdates, { _ in true }, { date($0.updatedAt) }),
      ("favorite", content.loadFavoriteEpisodes, { $0.favoriteAt != nil }, { date($0.favoriteAt) }),
      (
        "later", content.loadWatchLaterEpisodes, { $0.watchLaterAt != nil },
        { date($0.watchLaterAt) }
      ),
      ("free", content.loadFreeEpisodes, { $0.type == .free }, { date($0.updatedAt) }),
      (
        "watching", content.loadWatchingHistories, { $0.watchedAt != nil && $0.progress != 0 },
        { date($0.watchedAt) }
      ),
    ]
  }

  private static func date(_ date: Date?) -> Date { date ?? .distantPast }

  private func date(_ date: Date?) -> Date { date ?? .distantPast }

  private static func fill(
    _ temporary: TemporaryStore
  ) async throws -> (ContentStore, [Episode], [LearningPath]) {
    var random = temporary.random
    let paths = (0..<9).map { number in
      var path = LearningPath(id: "path:\(number)")
      path.updatedAt = random.maybeDate()
      return path
    }
    let episodes = (0..<150).map { number in
      var episode = Episode(
        id: "episode:\(number)", title: random.oneIn(5) ? nil : "t\(random.number(0...99))")
      episode.updatedAt = random.maybeDate()
      episode.favoriteAt = random.maybeDate()
      episode.watchLaterAt = random.maybeDate()
      episode.watchedAt = random.maybeDate()
      episode.progress = random.pick([0, -0.0, 0.5, 1])
      episode.type = random.oneIn(4) ? nil : EpisodeType(rawValue: Int64(random.number(1...5)))
      episode.pathID = random.oneIn(3) ? nil : random.pick(paths).id
      episode.position = random.oneIn(5) ? nil : Int64(random.number(1...6))
      return episode
    }
    try await temporary.store.write { transaction in
      for path in paths { try transaction.insert(path) }
      for episode in episodes { try transaction.insert(episode) }
    }
    return (try ContentStore(temporary.store), episodes, paths)
  }
}

extension SeededRandom {
  /// None, or one of a few, so that many are equal.
  fileprivate mutating func maybeDate() -> Date? {
    oneIn(3) ? nil : Date(timeIntervalSinceReferenceDate: Double(number(0...40)))
  }
}

extension Sequence {
  /// Equal elements keep their order, here that of the object ids.
  fileprivate func stableSorted(by precedes: (Element, Element) -> Bool) -> [Element] {
    enumerated().sorted { a, b in
      if precedes(a.element, b.element) { return true }
      return precedes(b.element, a.element) ? false : a.offset < b.offset
    }.map(\.element)
  }
}
