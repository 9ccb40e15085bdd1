import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityObjects
@testable import EntityStore

@Suite struct SectionCacheTests {
  private static let byZone = FetchRequest(
    entityName: "Team", predicate: .comparison("wins", .greater, 0),
    sortBy: [SortKey("zone", descending: true), SortKey("name")])

  private static func isKept(_ store: Store, _ name: String) throws -> HistoryToken? {
    try store.read { transaction in
      guard
        case .string(let text)? = try transaction.get(
          "_SectionCache", by: ["name": .string(name)])?["token"]
      else { return nil }
      return try HistoryToken(text)
    }
  }

  @Test func cachedSectionsAreNeverStale() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      var random = temporary.random
      for _ in 0..<40 {
        random = try await store.write { [random] transaction in
          var random = random
          try League.change(transaction, using: &random)
          return random
        }
        for (name, path, request) in [
          ("all", "zone", Self.byZone), ("window", "zone", Self.window),
          ("related", "team.zone", Self.related),
        ] {
          let live = try #require(
            try await store.results(of: request, sectionBy: path).first { _ in true })
          for _ in 0..<2 {
            let sections = try await store.sections(of: request, by: path, cacheName: name)
            #expect(sections == live.snapshot.sections)
          }
          #expect(try await store.sections(of: request, by: path) == live.snapshot.sections)
        }
      }
    }
  }

  private static var window: FetchRequest {
    var request = byZone
    request.fetchOffset = 3
    request.fetchLimit = 9
    return request
  }

  private static let related = FetchRequest(
    entityName: "Player", sortBy: [SortKey("team.zone"), SortKey("goals")])

  @Test func cachedSectionsServeUntilARelevantChange() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      let team = try await store.write {
        try $0.insert("Team", ["name": "a", "zone": "asia", "wins": 1])
      }
      func ask() async throws -> [ResultsSection] {
        try await store.sections(of: Self.byZone, by: "zone", cacheName: "home")
      }
      let asia = [ResultsSection(name: "asia", count: 1)]
      #expect(try await ask() == asia)
      let first = try Self.isKept(store, "home")
      try await store.write { try $0.update(team) { try $0.set("motto", to: "m") } }
      try await store.write { try $0.insert("Player", ["name": "p"]) }
      #expect(try await ask() == asia)
      #expect(try Self.isKept(store, "home") == first)
      try await store.write { try $0.update(team) { try $0.set("zone", to: "europe") } }
      #expect(try await ask() == [ResultsSection(name: "europe", count: 1)])
      #expect(try Self.isKept(store, "home") != first)
      // Another request of the same name replaces it.
      var all = Self.byZone
      all.predicate = nil
      #expect(try await store.sections(of: all, by: "zone", cacheName: "home").count == 1)
      #expect(try await ask() == [ResultsSection(name: "europe", count: 1)])
      try await store.removeSectionCache(named: "other")
      #expect(try Self.isKept(store, "home") != nil)
      try await store.removeSectionCache(named: nil)
      #expect(try Self.isKept(store, "home") == nil)
    }
  }

  @Test func anUntrustedEntryIsRebuilt() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      try await store.write { try $0.insert("Team", ["name": "a", "zone": "asia", "wins": 1]) }
      let sections = try await store.sections(of: Self.byZone, by: "zone", cacheName: "home")
      for (name, wrong) in [
        ("sections", Value.data(Data("[{".utf8))), ("token", "nonsense"),
        ("token", .string(HistoryToken(storeID: UUID(), sequence: 1, mark: 1).description)),
        ("revision", 0), ("request", .data(Data())),
      ] {
        try await store.write { transaction in
          try transaction.upsert("_SectionCache", ["name": "home", name: wrong], by: ["name"])
        }
        #expect(
          try await store.sections(of: Self.byZone, by: "zone", cacheName: "home") == sections)
      }
    }
  }

  @Test func anEntityWithoutHistoryIsNeverCached() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      let request = FetchRequest(entityName: "Referee", sortBy: [SortKey("age")])
      for count in 1...3 {
        try await store.write { try $0.insert("Referee", ["name": "r"]) }
        let sections = try await store.sections(of: request, by: "age", cacheName: "r")
        #expect(sections == [ResultsSection(name: 0, count: count)])
      }
      #expect(try Self.isKept(store, "r") == nil)
    }
  }

  @Test func infiniteNumbersAreCached() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      try await store.write { transaction in
        for rating: Double in [.infinity, -.infinity, 0] {
          try transaction.insert("Team", ["name": "t", "rating": .double(rating)])
        }
      }
      let request = FetchRequest(
        entityName: "Team", predicate: .comparison("rating", .less, .double(Double.infinity)),
        sortBy: [SortKey("rating")])
      for _ in 0..<2 {
        let sections = try await store.sections(of: request, by: "rating", cacheName: "ratings")
        #expect(sections.map(\.name) == [.double(-.infinity), 0.0])
      }
      #expect(try Self.isKept(store, "ratings") != nil)
    }
  }

  @Test func sectionsBeyondTheCacheLimitAreRebuilt() async throws {
    try await withTemporaryStore(migrations: [.league]) { temporary in
      let store = temporary.store
      let zones = (0..<5).map { String($0) + String(repeating: "z", count: 4 << 20) }
      for zone in zones {
        try await store.write { try $0.insert("Team", ["name": "t", "zone": .string(zone)]) }
      }
      let request = FetchRequest(entityName: "Team", sortBy: [SortKey("zone")])
      for _ in 0..<2 {
        let sections = try await store.sections(of: request, by: "zone", cacheName: "zones")
        #expect(sections.map(\.name) == zones.map(Value.string))
      }
      #expect(try Self.isKept(store, "zones") == nil)
    }
  }
}
