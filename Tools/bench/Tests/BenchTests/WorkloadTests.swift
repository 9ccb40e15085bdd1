import Testing

@testable import bench

@Suite("The seeded workload")
struct WorkloadTests {
  @Test("The same seed gives the same rows and pages, another seed others")
  func repeats() throws {
    let first = try Workload(rows: 5000, seed: 7)
    let again = try Workload(rows: 5000, seed: 7)
    let other = try Workload(rows: 5000, seed: 8)
    #expect(first.rows(0..<5000).episodes == again.rows(0..<5000).episodes)
    #expect(first.rows(0..<5000).episodes != other.rows(0..<5000).episodes)
    #expect(
      try first.nextPage(.hot, rows: 100).episodes == again.nextPage(.hot, rows: 100).episodes)
  }

  @Test("Rows have the documented shape and shares")
  func shape() throws {
    let episodes = try Workload(rows: 20_000, seed: 7).rows(0..<20_000).episodes
    #expect(Set(episodes.map(\.id)).count == 20_000)
    #expect(Set(episodes.map(\.updatedAt)).count == 20_000)
    #expect(episodes.allSatisfy { (32...50).contains($0.title.utf8.count) })
    #expect(episodes.allSatisfy { (168...230).contains($0.summary.utf8.count) })
    #expect(!episodes.contains { $0.title.contains("\u{FFFD}") || $0.summary.contains("\u{FFFD}") })
    let share = { (matches: (Episode) -> Bool) in Double(episodes.count(where: matches)) / 20_000 }
    #expect(abs(share { $0.type == freeType } - 0.25) < 0.02)
    #expect(abs(share { $0.pathID != nil } - 0.80) < 0.02)
    #expect(abs(share { $0.favoriteAt != nil } - 0.05) < 0.01)
    #expect(abs(share { $0.watchLaterAt != nil } - 0.05) < 0.01)
    #expect(abs(share { $0.watchedAt != nil } - 0.20) < 0.02)
  }

  @Test("A hot page has distinct rows of the 2,000 newest, and makes them newer still")
  func hotPages() throws {
    let workload = try Workload(rows: 10_000, seed: 7)
    var updated = Dictionary(
      uniqueKeysWithValues: workload.rows(0..<workload.count).episodes.map { ($0.id, $0.updatedAt) }
    )
    for _ in 0..<5 {
      for episode in try workload.nextPage(.random, rows: 100).episodes {
        updated[episode.id] = episode.updatedAt
      }
      let threshold = updated.values.sorted(by: >)[1999]
      let newest = try #require(updated.values.max())
      let page = try workload.nextPage(.hot, rows: 100).episodes
      #expect(Set(page.map(\.id)).count == 100)
      for episode in page {
        #expect(try #require(updated[episode.id]) >= threshold)
        #expect(episode.updatedAt > newest)
      }
      for episode in page { updated[episode.id] = episode.updatedAt }
    }
  }
}
