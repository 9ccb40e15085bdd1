import Foundation
import GRDB

/// GRDB through its query interface, as its users write it: records with columns decoded by hand.
final class GRDBCandidate: EpisodeSaver {
  let name = CandidateName.grdb
  private var database: EpisodePool?

  func open(in folder: URL) throws { database = try EpisodePool(in: folder) }

  func close() throws {
    try database?.pool.close()
    database = nil
  }

  func fileSize() throws -> Int { try opened().fileSize() }

  // MARK: Writes

  func bulkLoad(_ feed: RowFeed) async throws {
    for rows in feed {
      try opened().commit { database in
        for episode in rows.episodes { try EpisodeRecord(episode).insert(database) }
      }
    }
  }

  func save(_ episodes: [Episode]) throws {
    try opened().commit { database in
      for episode in episodes { try EpisodeRecord(episode).save(database) }
    }
  }

  func setProgress(_ changes: [ProgressChange], by producers: Producers) async throws {
    for change in changes {
      try opened().commit { database in
        _ = try EpisodeRecord.filter(key: change.id)
          .updateAll(database, Column("progress").set(to: change.progress))
      }
    }
  }

  func setProgress(ofType type: Int, to progress: Double) async throws -> Int {
    try opened().commit { database in
      try EpisodeRecord.filter(Column("type") == type)
        .updateAll(database, Column("progress").set(to: progress))
    }
  }

  func delete(updatedBefore date: Double) async throws -> Int {
    try opened().commit { database in
      try EpisodeRecord.filter(Column("updatedAt") < date).deleteAll(database)
    }
  }

  // MARK: Reads

  func episode(id: String) throws -> Episode? {
    try opened().read { try EpisodeRecord.fetchOne($0, key: id) }?.episode
  }

  func episodes(_ list: HomeList, limit: Int) throws -> [Episode] {
    try records(list, limit: limit).map(\.episode)
  }

  func touchEpisodes(_ list: HomeList, limit: Int) throws -> Int {
    try records(list, limit: limit).count
  }

  func cards(_ list: HomeList, limit: Int) throws -> [Card] {
    try cardRecords(list, limit: limit).map(\.card)
  }

  func touchCards(_ list: HomeList, limit: Int) throws -> Int {
    try cardRecords(list, limit: limit).count
  }

  func count(_ filter: ScanFilter) throws -> Int {
    try opened().read { database in
      try EpisodeRecord
        .filter(
          Column("duration") >= filter.durationAtLeast && Column("progress") > filter.progressAbove
        )
        .fetchCount(database)
    }
  }

  func sumOfDurations() throws -> Int {
    try opened().read { database in
      try EpisodeRecord.select(sum(Column("duration")), as: Int.self).fetchOne(database) ?? 0
    }
  }

  func count(type: Int) throws -> Int {
    try opened().read { try EpisodeRecord.filter(Column("type") == type).fetchCount($0) }
  }

  func countsByType() throws -> [Int] {
    let counts = try opened().read { database in
      try Row.fetchAll(
        database,
        EpisodeRecord.select(Column("type"), GRDB.count(Column.rowID)).group(Column("type"))
          .order(Column("type")))
    }
    return counts.map { $0[1] }
  }

  func recentReader() throws -> @Sendable () throws -> Int {
    let pool = try opened().pool
    return { try pool.read { try HomeList.recent.records.limit(20).fetchAll($0).count } }
  }

  private func records(_ list: HomeList, limit: Int) throws -> [EpisodeRecord] {
    try opened().read { try list.records.limit(limit).fetchAll($0) }
  }

  private func cardRecords(_ list: HomeList, limit: Int) throws -> [CardRecord] {
    try opened().read { database in
      try list.records.select(Column("title"), Column("updatedAt")).limit(limit)
        .asRequest(of: CardRecord.self).fetchAll(database)
    }
  }

  private func opened() throws -> EpisodePool {
    guard let database else { throw misused() }
    return database
  }
}

extension HomeList {
  fileprivate var records: QueryInterfaceRequest<EpisodeRecord> {
    switch self {
    case .recent:
      EpisodeRecord.order(Column("updatedAt").desc)
    case .favorites:
      EpisodeRecord.filter(Column("favoriteAt") != nil).order(Column("favoriteAt").desc)
    case .watchLater:
      EpisodeRecord.filter(Column("watchLaterAt") != nil).order(Column("watchLaterAt").desc)
    case .histories:
      EpisodeRecord.filter(Column("watchedAt") != nil).order(Column("watchedAt").desc)
    case .free:
      EpisodeRecord.filter(Column("type") == freeType).order(Column("updatedAt").desc)
    case .learningPath(let path):
      EpisodeRecord.filter(Column("pathID") == path).order(Column("position"))
    }
  }
}
