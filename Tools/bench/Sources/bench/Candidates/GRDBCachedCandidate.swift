import Foundation
import GRDB

/// GRDB in its fastest form: SQL by hand, cached statements, columns read by position.
final class GRDBCachedCandidate: EpisodeSaver {
  let name = CandidateName.grdbCached
  private var database: EpisodePool?

  func open(in folder: URL) throws { database = try EpisodePool(in: folder) }

  func close() throws {
    try database?.pool.close()
    database = nil
  }

  func fileSize() throws -> Int { try opened().fileSize() }

  // MARK: Writes

  func bulkLoad(_ feed: RowFeed) async throws {
    for rows in feed { try write(rows.episodes, by: insertText) }
  }

  func save(_ episodes: [Episode]) throws { try write(episodes, by: upsertText) }

  func setProgress(_ changes: [ProgressChange], by producers: Producers) async throws {
    for change in changes {
      _ = try run("UPDATE episode SET progress = ? WHERE id = ?", [change.progress, change.id])
    }
  }

  func setProgress(ofType type: Int, to progress: Double) async throws -> Int {
    try run("UPDATE episode SET progress = ? WHERE type = ?", [progress, type])
  }

  func delete(updatedBefore date: Double) async throws -> Int {
    try run("DELETE FROM episode WHERE updatedAt < ?", [date])
  }

  private func write(_ episodes: [Episode], by text: String) throws {
    try opened().commit { database in
      let statement = try database.cachedStatement(sql: text)
      for episode in episodes { try statement.execute(arguments: episode.arguments) }
    }
  }

  /// Returns the number of rows that were changed.
  private func run(_ text: String, _ arguments: StatementArguments) throws -> Int {
    try opened().commit { database in
      try database.cachedStatement(sql: text).execute(arguments: arguments)
      return database.changesCount
    }
  }

  // MARK: Reads

  func episode(id: String) throws -> Episode? {
    try opened().read { database in
      try PositionalEpisode.fetchOne(
        database.cachedStatement(sql: "SELECT \(columns) FROM episode WHERE id = ?"),
        arguments: [id])
    }?.episode
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
    try number(
      "SELECT count(*) FROM episode WHERE duration >= ? AND progress > ?",
      [filter.durationAtLeast, filter.progressAbove])
  }

  func sumOfDurations() throws -> Int { try number("SELECT sum(duration) FROM episode") }

  func count(type: Int) throws -> Int {
    try number("SELECT count(*) FROM episode WHERE type = ?", [type])
  }

  func countsByType() throws -> [Int] {
    try opened().read { database in
      try Int.fetchAll(
        database.cachedStatement(sql: "SELECT count(*) FROM episode GROUP BY type ORDER BY type"))
    }
  }

  func recentReader() throws -> @Sendable () throws -> Int {
    let pool = try opened().pool
    return { try pool.read { try HomeList.recent.records(limit: 20, in: $0).count } }
  }

  private func records(_ list: HomeList, limit: Int) throws -> [PositionalEpisode] {
    try opened().read { try list.records(limit: limit, in: $0) }
  }

  private func cardRecords(_ list: HomeList, limit: Int) throws -> [PositionalCard] {
    try opened().read { database in
      try PositionalCard.fetchAll(
        database.cachedStatement(
          sql: "SELECT title, updatedAt FROM episode \(list.condition) LIMIT ?"),
        arguments: list.arguments(limit: limit))
    }
  }

  private func number(_ text: String, _ arguments: StatementArguments = []) throws -> Int {
    try opened().read { database in
      try Int.fetchOne(database.cachedStatement(sql: text), arguments: arguments) ?? 0
    }
  }

  private func opened() throws -> EpisodePool {
    guard let database else { throw misused() }
    return database
  }
}

private let columns = """
  id, title, summary, type, duration, url, pathID, position, publishedAt, updatedAt, favoriteAt, \
  watchLaterAt, watchedAt, progress
  """
private let insertText = """
  INSERT INTO episode (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
  """
private let upsertText = """
  \(insertText) ON CONFLICT (id) DO UPDATE SET title = excluded.title, \
  summary = excluded.summary, type = excluded.type, duration = excluded.duration, \
  url = excluded.url, pathID = excluded.pathID, position = excluded.position, \
  publishedAt = excluded.publishedAt, updatedAt = excluded.updatedAt, \
  favoriteAt = excluded.favoriteAt, watchLaterAt = excluded.watchLaterAt, \
  watchedAt = excluded.watchedAt, progress = excluded.progress
  """

extension HomeList {
  fileprivate var condition: String {
    switch self {
    case .recent: "ORDER BY updatedAt DESC"
    case .favorites: "WHERE favoriteAt IS NOT NULL ORDER BY favoriteAt DESC"
    case .watchLater: "WHERE watchLaterAt IS NOT NULL ORDER BY watchLaterAt DESC"
    case .histories: "WHERE watchedAt IS NOT NULL ORDER BY watchedAt DESC"
    case .free: "WHERE type = \(freeType) ORDER BY updatedAt DESC"
    case .learningPath: "WHERE pathID = ? ORDER BY position"
    }
  }

  fileprivate func arguments(limit: Int) -> StatementArguments {
    if case .learningPath(let path) = self { [path, limit] } else { [limit] }
  }

  fileprivate func records(limit: Int, in database: Database) throws -> [PositionalEpisode] {
    try PositionalEpisode.fetchAll(
      database.cachedStatement(sql: "SELECT \(columns) FROM episode \(condition) LIMIT ?"),
      arguments: arguments(limit: limit))
  }
}

private struct PositionalEpisode: FetchableRecord {
  let episode: Episode

  init(row: Row) {
    episode = Episode(
      id: row[0], title: row[1], summary: row[2], type: row[3], duration: row[4], url: row[5],
      pathID: row[6], position: row[7], publishedAt: row[8], updatedAt: row[9],
      favoriteAt: row[10], watchLaterAt: row[11], watchedAt: row[12], progress: row[13])
  }
}

private struct PositionalCard: FetchableRecord {
  let card: Card

  init(row: Row) { card = Card(title: row[0], updatedAt: row[1]) }
}

extension Episode {
  fileprivate var arguments: StatementArguments {
    [
      id, title, summary, type, duration, url, pathID, position, publishedAt, updatedAt,
      favoriteAt, watchLaterAt, watchedAt, progress,
    ]
  }
}
