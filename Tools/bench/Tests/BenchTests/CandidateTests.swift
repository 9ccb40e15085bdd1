import Foundation
import Testing

@testable import bench

@Suite("Candidates and the cross-check")
struct CandidateTests {
  @Test("Each candidate answers as a sorted array does, after load, writes and deletes")
  func answersAsAnArray() async throws {
    for name in CandidateName.allCases {
      let store = try name.makeStore()
      let workload = try Workload(rows: 5000, seed: 11)
      var model = Model(workload.rows(0..<workload.count).episodes)
      try await withFolder { folder in
        try store.open(in: folder)
        try await store.bulkLoad(RowFeed(workload, chunk: 1000))
        try expectSame(store, model, workload)

        for kind in [PageKind.random, .hot, .random] {
          let page = try workload.nextPage(kind, rows: 300)
          try await store.upsert(page)
          model.upsert(page.episodes)
        }
        try expectSame(store, model, workload)

        let changes = (0..<200).map { ProgressChange(id: "ep:\($0)", progress: Double($0) / 200) }
        try await store.setProgress(changes, by: .tasks(8))
        model.setProgress(changes)
        #expect(
          try await store.setProgress(ofType: 3, to: 0.75) == model.setProgress(ofType: 3, 0.75))
        try expectSame(store, model, workload)

        let date = model.dateOfOldest(1200)
        #expect(try await store.delete(updatedBefore: date) == model.delete(updatedBefore: date))
        try expectSame(store, model, workload)

        try store.close()
        try store.open(in: folder)
        try store.prepareForManyReads()
        try expectSame(store, model, workload)
        #expect(try store.recentReader()() == 20)
        #expect(try store.fileSize() > 0)
        try store.close()
      }
    }
  }

  @Test("A load before the indexes holds the same rows", arguments: CandidateName.usual)
  func loadBeforeIndexes(name: CandidateName) async throws {
    let workload = try Workload(rows: 5000, seed: 12)
    guard let store = try name.makeStore() as? any DeferringLoader else { return }
    try await withFolder { folder in
      try store.open(in: folder)
      try await store.loadBeforeIndexes(RowFeed(workload, chunk: 1000))
      try expectSame(store, Model(workload.rows(0..<workload.count).episodes), workload)
      try store.close()
    }
  }

  @Test("A candidate that loses one change is caught")
  func mismatch() async throws {
    let workload = try Workload(rows: 5000, seed: 13)
    let (honest, lossy) = (try RawLMDBCandidate(), try SQLiteCandidate())
    let stores: [any EpisodeStore] = [honest, lossy]
    try await withFolder { folder in
      for store in stores {
        let own = folder.appending(path: store.name.rawValue)
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        try store.open(in: own)
        try await store.bulkLoad(RowFeed(workload, chunk: 1000))
      }
      let check = CrossCheck(stores: stores, workload: workload)
      try check.run(after: "the load")
      try await honest.upsert(workload.nextPage(.random, rows: 1))
      let error = try #require(throws: BenchError.self) { try check.run(after: "a lost page") }
      #expect(error.code == .mismatch)
      try honest.close()
      try lossy.close()
    }
  }
}

private func expectSame(_ store: any EpisodeStore, _ model: Model, _ workload: Workload) throws {
  let paths = (0..<workload.pathCount).map { HomeList.learningPath("lp:\($0)") }
  for list in [.recent, .favorites, .watchLater, .histories, .free] + paths {
    let expected = Array(model.list(list).prefix(20))
    #expect(try store.episodes(list, limit: 20) == expected, "\(store.name) \(list)")
    #expect(try store.touchEpisodes(list, limit: 20) == expected.count)
    let cards = expected.map { Card(title: $0.title, updatedAt: $0.updatedAt) }
    #expect(try store.cards(list, limit: 20) == cards, "\(store.name) \(list)")
    #expect(try store.touchCards(list, limit: 20) == expected.count)
    if let viewer = store as? any CardViewer {
      #expect(try viewer.cardsInPlace(list, limit: 20) == cards, "\(store.name) \(list)")
      #expect(try viewer.touchCardsInPlace(list, limit: 20) == expected.count)
    }
  }
  for number in stride(from: 0, to: workload.count, by: 7) {
    let id = "ep:\(number)"
    #expect(try store.episode(id: id) == model.episodes[id], "\(store.name)")
    #expect(try store.touchEpisode(id: id) == (model.episodes[id] != nil))
  }
  #expect(try store.episode(id: "ep:none") == nil)
  let rows = model.episodes.values
  let filter = ScanFilter()
  #expect(
    try store.count(filter)
      == rows.count {
        $0.duration >= filter.durationAtLeast && $0.progress > filter.progressAbove
      })
  #expect(try store.sumOfDurations() == rows.reduce(0) { $0 + $1.duration })
  #expect(try store.count(type: 2) == rows.count { $0.type == 2 })
  #expect(try store.countsByType() == (1...3).map { type in rows.count { $0.type == type } })
}

/// The simplest thing that gives the right answers.
private struct Model {
  private(set) var episodes: [String: Episode] = [:]

  init(_ episodes: [Episode]) { upsert(episodes) }

  mutating func upsert(_ page: [Episode]) {
    for episode in page { episodes[episode.id] = episode }
  }

  mutating func setProgress(_ changes: [ProgressChange]) {
    for change in changes { episodes[change.id]?.progress = change.progress }
  }

  /// Returns how many were changed.
  mutating func setProgress(ofType type: Int, _ progress: Double) -> Int {
    let matches = episodes.values.filter { $0.type == type }
    for episode in matches { episodes[episode.id]?.progress = progress }
    return matches.count
  }

  /// The date before which so many were last updated.
  func dateOfOldest(_ count: Int) -> Double { list(.recent).reversed()[count].updatedAt }

  /// Returns how many were deleted.
  mutating func delete(updatedBefore date: Double) -> Int {
    let matches = episodes.values.filter { $0.updatedAt < date }
    for episode in matches { episodes[episode.id] = nil }
    return matches.count
  }

  func list(_ list: HomeList) -> [Episode] {
    switch list {
    case .recent: newest(\.updatedAt) { _ in true }
    case .free: newest(\.updatedAt) { $0.type == freeType }
    case .favorites: newest(\.favoriteAt)
    case .watchLater: newest(\.watchLaterAt)
    case .histories: newest(\.watchedAt)
    case .learningPath(let path):
      episodes.values.filter { $0.pathID == path }
        .sorted { ($0.position ?? 0) < ($1.position ?? 0) }
    }
  }

  private func newest(_ date: (Episode) -> Double, where matches: (Episode) -> Bool) -> [Episode] {
    episodes.values.filter(matches).sorted { date($0) > date($1) }
  }

  private func newest(_ date: (Episode) -> Double?) -> [Episode] {
    let dated = episodes.values.compactMap { episode in date(episode).map { ($0, episode) } }
    return dated.sorted { $0.0 > $1.0 }.map(\.1)
  }
}

func withFolder(_ body: (URL) async throws -> Void) async throws {
  let folder = FileManager.default.temporaryDirectory
    .appending(path: "bench-tests-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
  defer {
    do { try FileManager.default.removeItem(at: folder) } catch {
      Issue.record("\(folder.path) is left: \(error)")
    }
  }
  try await body(folder)
}
