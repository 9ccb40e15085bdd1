import Foundation
import Mooring

/// An episode as a record of Mooring.
struct MooringEpisode: Entity {
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

/// Two attributes of an episode. The others are not read.
struct MooringCard: Entity {
  static let entityName = MooringEpisode.entityName

  let title: String
  let updatedAt: Date

  static let attributes: [EntityAttribute<MooringCard>] = [
    .init("title", \.title), .init("updatedAt", \.updatedAt),
  ]

  init(from record: inout RecordReader) throws {
    title = try record["title"]
    updatedAt = try record["updatedAt"]
  }

  var card: Card {
    Card(title: title, updatedAt: updatedAt.timeIntervalSinceReferenceDate)
  }
}

/// The progress of an episode, as a player writes it. The other attributes stay unchanged.
struct MooringProgress: Entity {
  static let entityName = MooringEpisode.entityName

  let id: String
  let progress: Double

  static let attributes: [EntityAttribute<MooringProgress>] = [
    .init("id", \.id), .init("progress", \.progress),
  ]

  init(_ change: ProgressChange) {
    id = change.id
    progress = change.progress
  }

  init(from record: inout RecordReader) throws {
    id = try record["id"]
    progress = try record["progress"]
  }
}

extension HomeList {
  func descriptor(limit: Int) -> FetchDescriptor<MooringEpisode> {
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
      // The index omits rows without a position, so the predicate has to exclude them, too.
      FetchDescriptor(
        predicate: .comparison("pathID", .equal, .string(path)) && .isNotNull("position"),
        sortBy: [SortDescriptor(\.position)], fetchLimit: limit)
    }
  }
}

/// The migration that creates the entity and its seven indexes. Those of dates and of the path omit
/// nulls.
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

/// The episodes of a workload in arrival order, created one by one.
///
/// SAFETY: the workload draws no page while a load reads its rows.
struct ArrivingEpisodes: Sequence, @unchecked Sendable {
  private let workload: Workload

  init(_ workload: Workload) { self.workload = workload }

  func makeIterator() -> AnyIterator<MooringEpisode> {
    var position = 0
    let workload = workload
    return AnyIterator {
      guard position < workload.count else { return nil }
      defer { position += 1 }
      return MooringEpisode(workload.episode(position))
    }
  }
}
