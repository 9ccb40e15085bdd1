import Foundation
import GRDB

/// A record as GRDB's users declare one.
protocol EpisodeRecord: FetchableRecord, PersistableRecord {
  init(_ episode: Episode)
  var episode: Episode { get }
}

/// GRDB through its query interface, on a `DatabasePool` with `synchronous = FULL`, so that a
/// commit is as durable as LMDB's. Records are values of `Record`.
final class GRDBCandidate<Record: EpisodeRecord>: Candidate {
  let name: String
  private var pool: DatabasePool?
  private var folder: URL?

  init(name: String) { self.name = name }

  func prepare(in folder: URL) throws {
    let pool = try DatabasePool(path: folder.appending(path: "episodes.sqlite").path)
    // The pool sets NORMAL, which does not flush at a commit, when it turns on WAL.
    let synchronous = try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = FULL")
      return try Int.fetchOne(database, sql: "PRAGMA synchronous")
    }
    guard synchronous == 2 else {
      throw BenchError(.candidate, "\(name): synchronous is not FULL")
    }
    try pool.write(createSchema)
    self.pool = pool
    self.folder = folder
  }

  func close() throws {
    try pool?.close()
    pool = nil
  }

  func bulkLoad(_ feed: RowFeed) async throws {
    for rows in feed {
      try commit { database in
        for episode in rows.episodes { try Record(episode).insert(database) }
      }
    }
  }

  func pageUpsert(_ page: Rows) async throws {
    try commit { database in
      for episode in page.episodes { try Record(episode).save(database) }
    }
  }

  func deleteOldest(_ count: Int) async throws {
    for start in stride(from: 0, to: count, by: 10_000) {
      let rows = min(10_000, count - start)
      try commit { database in
        _ = try Record.order(Column("updatedAt")).limit(rows).deleteAll(database)
      }
    }
  }

  func episode(id: String) throws -> Episode? {
    try record(id: id)?.episode
  }

  func episodes(_ list: HomeList, limit: Int) throws -> [Episode] {
    try records(list, limit: limit).map(\.episode)
  }

  func countByType() throws -> [Int] {
    let counts = try opened().read { database in
      try Row.fetchAll(
        database,
        Record.select(Column("type"), count(Column.rowID)).group(Column("type"))
          .order(Column("type")))
    }
    return counts.map { $0[1] }
  }

  func touchEpisode(id: String) throws -> Bool { try record(id: id) != nil }

  func touchEpisodes(_ list: HomeList, limit: Int) throws -> Int {
    try records(list, limit: limit).count
  }

  func fileSize() throws -> Int {
    _ = try opened().writeWithoutTransaction { try $0.checkpoint(.truncate) }
    guard let folder else { return 0 }
    return try sizeOfFiles(in: folder)
  }

  /// GRDB's blocking write; within an asynchronous function its suspending one would be called,
  /// which costs a little more.
  private func commit(_ updates: (Database) throws -> Void) throws {
    try opened().write(updates)
  }

  private func record(id: String) throws -> Record? {
    try opened().read { try Record.fetchOne($0, key: id) }
  }

  private func records(_ list: HomeList, limit: Int) throws -> [Record] {
    try opened().read { try list.request(of: Record.self).limit(limit).fetchAll($0) }
  }

  private func opened() throws -> DatabasePool {
    guard let pool else { throw BenchError(.candidate, "\(name): used before it was prepared") }
    return pool
  }
}

extension HomeList {
  fileprivate func request<Record: TableRecord>(
    of type: Record.Type
  ) -> QueryInterfaceRequest<Record> {
    switch self {
    case .recent:
      Record.order(Column("updatedAt").desc)
    case .favorites:
      Record.filter(Column("favoriteAt") != nil).order(Column("favoriteAt").desc)
    case .watchLater:
      Record.filter(Column("watchLaterAt") != nil).order(Column("watchLaterAt").desc)
    case .histories:
      Record.filter(Column("watchedAt") != nil).order(Column("watchedAt").desc)
    case .free:
      Record.filter(Column("type") == freeType).order(Column("updatedAt").desc)
    case .learningPath(let path):
      Record.filter(Column("pathID") == path).order(Column("position"))
    }
  }
}

/// The seven indexes: the primary key, and six more, the sparse ones partial.
private func createSchema(_ database: Database) throws {
  try database.create(table: "episode") { table in
    table.primaryKey("id", .text)
    table.column("title", .text).notNull()
    table.column("summary", .text).notNull()
    table.column("type", .integer).notNull()
    table.column("duration", .integer).notNull()
    table.column("url", .text).notNull()
    table.column("pathID", .text)
    table.column("position", .integer)
    table.column("publishedAt", .double).notNull()
    table.column("updatedAt", .double).notNull()
    table.column("favoriteAt", .double)
    table.column("watchLaterAt", .double)
    table.column("watchedAt", .double)
    table.column("progress", .double).notNull()
  }
  try database.create(index: "episode_updated", on: "episode", columns: ["updatedAt"])
  try database.create(
    index: "episode_type_updated", on: "episode", columns: ["type", "updatedAt"])
  for column in ["watchLaterAt", "favoriteAt", "watchedAt"] {
    try database.create(
      index: "episode_\(column)", on: "episode", columns: [column],
      condition: Column(column) != nil)
  }
  try database.create(
    index: "episode_path", on: "episode", columns: ["pathID", "position"],
    condition: Column("pathID") != nil)
}
