import EntityModel
import EntityStore
import Foundation
import HomeFeed
import Testing

@Test func smoke() async throws {
  let folder = NSTemporaryDirectory() + "/smoke-\(UUID().uuidString)"
  let store = try Store.open(at: folder, migrations: [.homeFeed], migrate: .ifEmpty, requiring: [Episode.self])
  try await store.write { tx in
    for n in 1...1000 {
      var e = Episode(id: "ep:\(n)", title: "t\(n)")
      e.updatedAt = Date(timeIntervalSinceReferenceDate: Double(n * 7919 % 1000))
      e.type = EpisodeType(rawValue: Int64(n % 3 + 1))
      if n % 10 == 0 { e.favoriteAt = e.updatedAt }
      if n % 7 == 0 { e.watchedAt = e.updatedAt; e.progress = n % 2 == 0 ? 0 : 0.5 }
      try tx.insert(e)
    }
  }
  let content = try ContentStore(store)
  let r = try content.loadRecentUpdates(count: 3)
  #expect(r.map { $0.updatedAt!.timeIntervalSinceReferenceDate } == [999, 998, 997])
  #expect(try content.loadFreeEpisodes(count: 5).allSatisfy { $0.type == .free })
  #expect(try content.loadFavoriteEpisodes(count: 1000).count == 100)
  #expect(try content.loadWatchingHistories(count: 1000).count == 71)
  #expect(try content.cacheExist())
  let report = try store.checkIntegrity()
  #expect(report.isClean, "\(report.problems)")
  print(try store.explain(FetchDescriptor<Episode>(predicate: .comparison("type", .equal, 1), sortBy: [SortDescriptor(\.updatedAt, order: .reverse)], fetchLimit: 3)))
}
