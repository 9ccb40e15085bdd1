import Foundation
import Testing

@testable import bench

@Suite("Candidates and the cross-check")
struct CandidateTests {
  @Test(
    "Each candidate answers as a sorted array does, after load, upserts and deletes",
    arguments: CandidateName.allCases)
  func answersAsAnArray(_ name: CandidateName) async throws {
    let workload = try Workload(rows: 5000, seed: 11)
    var model = Model(workload.rows(0..<workload.count).episodes)
    let candidate = name.make()
    try await withFolder { folder in
      try candidate.prepare(in: folder)
      try await candidate.bulkLoad(RowFeed(workload, chunk: 1000))
      try expectSame(candidate, model, workload)

      for kind in [PageKind.random, .hot, .random] {
        let page = try workload.nextPage(kind, rows: 300)
        try await candidate.pageUpsert(page)
        model.upsert(page.episodes)
      }
      try expectSame(candidate, model, workload)

      try await candidate.deleteOldest(1200)
      model.deleteOldest(1200)
      try expectSame(candidate, model, workload)
      #expect(try candidate.fileSize() > 0)
      try candidate.close()
    }
  }

  @Test("A sorted load holds the same rows", arguments: CandidateName.allCases)
  func sortedLoads(_ name: CandidateName) async throws {
    let workload = try Workload(rows: 5000, seed: 12)
    let candidate = name.make()
    try await withFolder { folder in
      try candidate.prepare(in: folder)
      if try await candidate.sortedLoad(RowFeed(workload, chunk: 1000)) {
        try expectSame(candidate, Model(workload.rows(0..<workload.count).episodes), workload)
      }
      try candidate.close()
    }
  }

  @Test("A candidate that loses one change is caught")
  func mismatch() async throws {
    let workload = try Workload(rows: 5000, seed: 13)
    let honest = CandidateName.rawA.make()
    let lossy = CandidateName.rawB.make()
    try await withFolder { folder in
      for (candidate, name) in [(honest, "honest"), (lossy, "lossy")] {
        let own = folder.appending(path: name)
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        try candidate.prepare(in: own)
        try await candidate.bulkLoad(RowFeed(workload, chunk: 1000))
      }
      let check = CrossCheck(candidates: [honest, lossy], workload: workload)
      try check.run(after: "the load")
      try await honest.pageUpsert(workload.nextPage(.random, rows: 1))
      let error = try #require(throws: BenchError.self) { try check.run(after: "a lost page") }
      #expect(error.code == .mismatch)
      try honest.close()
      try lossy.close()
    }
  }
}

private func expectSame(_ candidate: any Candidate, _ model: Model, _ workload: Workload) throws {
  let paths = (0..<workload.pathCount).map { HomeList.learningPath("lp:\($0)") }
  for list in [.recent, .favorites, .watchLater, .histories, .free] + paths {
    let expected = Array(model.list(list).prefix(20))
    #expect(try candidate.episodes(list, limit: 20) == expected, "\(list)")
    #expect(try candidate.touchEpisodes(list, limit: 20) == expected.count)
  }
  for number in stride(from: 0, to: workload.count, by: 7) {
    let id = "ep:\(number)"
    #expect(try candidate.episode(id: id) == model.episodes[id])
    #expect(try candidate.touchEpisode(id: id) == (model.episodes[id] != nil))
  }
  #expect(try candidate.episode(id: "ep:none") == nil)
  #expect(
    try candidate.countByType()
      == (1...3).map { type in
        model.episodes.values.count { $0.type == type }
      })
}

/// The simplest thing that gives the right answers.
private struct Model {
  private(set) var episodes: [String: Episode] = [:]

  init(_ episodes: [Episode]) { upsert(episodes) }

  mutating func upsert(_ page: [Episode]) {
    for episode in page { episodes[episode.id] = episode }
  }

  mutating func deleteOldest(_ count: Int) {
    for episode in list(.recent).suffix(count) { episodes[episode.id] = nil }
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
