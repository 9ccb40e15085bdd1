import EntityModel
import EntityStore
import Foundation

/// Mooring through its typed interface: one migration, `upsert` by the unique id, and one fetch
/// descriptor per list.
final class MooringCandidate: Candidate {
  let name: String
  private let keepsHistory: Bool
  private var store: Store?
  private var folder: URL?

  /// - Parameter keepsHistory: Without it the difference is what the history costs.
  init(keepsHistory: Bool) {
    name = keepsHistory ? "Mooring" : "no history"
    self.keepsHistory = keepsHistory
  }

  func prepare(in folder: URL) throws {
    var options = Store.Options()
    options.mapSize = 8 << 30
    var migrations = [MigrationSource(embedded: [("0001_bench", Array(episodeMigration.utf8))])]
    if !keepsHistory {
      migrations.append(MigrationSource(embedded: [("0001_silence", Array(silence.utf8))]))
    }
    store = try Store.open(
      at: folder.path, migrations: migrations, migrate: .ifEmpty,
      requiring: [MooringEpisode.self], options: options)
    self.folder = folder
  }

  func close() throws { store = nil }

  func bulkLoad(_ feed: RowFeed) async throws {
    let store = try opened()
    for rows in feed {
      let episodes = rows.episodes
      try await store.write { transaction in
        for episode in episodes { try transaction.insert(MooringEpisode(episode)) }
      }
    }
  }

  func pageUpsert(_ page: Rows) async throws {
    let episodes = page.episodes
    try await opened().write { transaction in
      for episode in episodes { try transaction.upsert(MooringEpisode(episode), by: \.id) }
    }
  }

  func deleteOldest(_ count: Int) async throws {
    let store = try opened()
    for start in stride(from: 0, to: count, by: 10_000) {
      let rows = min(10_000, count - start)
      try await store.write { transaction in
        let oldest = FetchDescriptor<MooringEpisode>(
          sortBy: [SortDescriptor(\.updatedAt)], fetchLimit: rows)
        for id in try transaction.fetchIdentifiers(oldest) { try transaction.delete(id) }
      }
    }
  }

  func episode(id: String) throws -> Episode? { try stored(id: id)?.episode }

  func episodes(_ list: HomeList, limit: Int) throws -> [Episode] {
    try stored(list, limit: limit).map(\.episode)
  }

  func countByType() throws -> [Int] {
    try opened().read { transaction in
      try (1...3).map { type in
        try transaction.count(
          FetchDescriptor<MooringEpisode>(
            predicate: .comparison("type", .equal, .int64(Int64(type)))))
      }
    }
  }

  func touchEpisode(id: String) throws -> Bool { try stored(id: id) != nil }

  func touchEpisodes(_ list: HomeList, limit: Int) throws -> Int {
    try stored(list, limit: limit).count
  }

  func fileSize() throws -> Int {
    guard let folder else { return 0 }
    return try sizeOfFiles(in: folder)
  }

  private func stored(id: String) throws -> MooringEpisode? {
    try opened().read { try $0.get(MooringEpisode.self, where: \.id, is: id) }
  }

  private func stored(_ list: HomeList, limit: Int) throws -> [MooringEpisode] {
    try opened().fetch(list.descriptor(limit: limit))
  }

  private func opened() throws -> Store {
    guard let store else { throw BenchError(.candidate, "\(name): used before it was prepared") }
    return store
  }
}

extension HomeList {
  fileprivate func descriptor(limit: Int) -> FetchDescriptor<MooringEpisode> {
    switch self {
    case .recent:
      FetchDescriptor(
        sortBy: [SortDescriptor(\.updatedAt, order: .reverse)], fetchLimit: limit)
    case .favorites:
      FetchDescriptor(
        predicate: .isNotNull("favoriteAt"),
        sortBy: [SortDescriptor(\.favoriteAt, order: .reverse)], fetchLimit: limit)
    case .watchLater:
      FetchDescriptor(
        predicate: .isNotNull("watchLaterAt"),
        sortBy: [SortDescriptor(\.watchLaterAt, order: .reverse)], fetchLimit: limit)
    case .histories:
      FetchDescriptor(
        predicate: .isNotNull("watchedAt"),
        sortBy: [SortDescriptor(\.watchedAt, order: .reverse)], fetchLimit: limit)
    case .free:
      FetchDescriptor(
        predicate: .comparison("type", .equal, .int64(Int64(freeType))),
        sortBy: [SortDescriptor(\.updatedAt, order: .reverse)], fetchLimit: limit)
    case .learningPath(let path):
      // The index leaves out rows without a position, so the fetch has to say that it does too.
      FetchDescriptor(
        predicate: .comparison("pathID", .equal, .string(path)) && .isNotNull("position"),
        sortBy: [SortDescriptor(\.position)], fetchLimit: limit)
    }
  }
}

private struct MooringEpisode: Entity {
  static let entityName = "Episode"

  let id: String
  let title: String
  let summary: String
  let type: Int
  let duration: Int
  let url: String
  let pathID: String?
  let position: Int?
  let publishedAt: Date
  let updatedAt: Date
  let favoriteAt: Date?
  let watchLaterAt: Date?
  let watchedAt: Date?
  let progress: Double

  static let attributes: [EntityAttribute<MooringEpisode>] = [
    .init("id", \.id), .init("title", \.title), .init("summary", \.summary),
    .init("type", \.type), .init("duration", \.duration), .init("url", \.url),
    .init("pathID", \.pathID), .init("position", \.position),
    .init("publishedAt", \.publishedAt), .init("updatedAt", \.updatedAt),
    .init("favoriteAt", \.favoriteAt), .init("watchLaterAt", \.watchLaterAt),
    .init("watchedAt", \.watchedAt), .init("progress", \.progress),
  ]

  init(from record: inout RecordReader) throws {
    id = try record["id"]
    title = try record["title"]
    summary = try record["summary"]
    type = try record["type"]
    duration = try record["duration"]
    url = try record["url"]
    pathID = try record["pathID"]
    position = try record["position"]
    publishedAt = try record["publishedAt"]
    updatedAt = try record["updatedAt"]
    favoriteAt = try record["favoriteAt"]
    watchLaterAt = try record["watchLaterAt"]
    watchedAt = try record["watchedAt"]
    progress = try record["progress"]
  }
}

extension MooringEpisode {
  init(_ episode: Episode) {
    id = episode.id
    title = episode.title
    summary = episode.summary
    type = episode.type
    duration = episode.duration
    url = episode.url
    pathID = episode.pathID
    position = episode.position
    publishedAt = Date(timeIntervalSinceReferenceDate: episode.publishedAt)
    updatedAt = Date(timeIntervalSinceReferenceDate: episode.updatedAt)
    favoriteAt = episode.favoriteAt.map(Date.init(timeIntervalSinceReferenceDate:))
    watchLaterAt = episode.watchLaterAt.map(Date.init(timeIntervalSinceReferenceDate:))
    watchedAt = episode.watchedAt.map(Date.init(timeIntervalSinceReferenceDate:))
    progress = episode.progress
  }

  var episode: Episode {
    Episode(
      id: id, title: title, summary: summary, type: type, duration: duration, url: url,
      pathID: pathID, position: position,
      publishedAt: publishedAt.timeIntervalSinceReferenceDate,
      updatedAt: updatedAt.timeIntervalSinceReferenceDate,
      favoriteAt: favoriteAt?.timeIntervalSinceReferenceDate,
      watchLaterAt: watchLaterAt?.timeIntervalSinceReferenceDate,
      watchedAt: watchedAt?.timeIntervalSinceReferenceDate, progress: progress)
  }
}

private let silence = """
  line: silence
  summary: No history
  steps:
    - setHistory: { on: Episode, keep: false }
  """

/// The seven indexes of the comparison; the date and path indexes leave nulls out.
let episodeMigration = """
  line: bench
  summary: The episodes of the comparison
  steps:
    - createEntity:
        name: Episode
        attributes:
          - { name: id, type: string, maxLength: 512 }
          - { name: title, type: string }
          - { name: summary, type: string }
          - { name: type, type: int64 }
          - { name: duration, type: int64 }
          - { name: url, type: string }
          - { name: pathID, type: string, optional: true }
          - { name: position, type: int64, optional: true }
          - { name: publishedAt, type: date }
          - { name: updatedAt, type: date }
          - { name: favoriteAt, type: date, optional: true }
          - { name: watchLaterAt, type: date, optional: true }
          - { name: watchedAt, type: date, optional: true }
          - { name: progress, type: double }
    - createIndex: { on: Episode, name: byID, keys: [id], unique: true }
    - createIndex: { on: Episode, name: byUpdate, keys: [updatedAt desc] }
    - createIndex: { on: Episode, name: byType, keys: [type, updatedAt desc] }
    - createIndex: { on: Episode, name: byWatchLater, keys: [watchLaterAt desc], sparse: true }
    - createIndex: { on: Episode, name: byFavorite, keys: [favoriteAt desc], sparse: true }
    - createIndex: { on: Episode, name: byWatched, keys: [watchedAt desc], sparse: true }
    - createIndex: { on: Episode, name: byPath, keys: [pathID, position], sparse: true }
  """
