import Foundation
import GRDB

/// GRDB's `DatabasePool` with the table of episodes. Its commits are as durable as LMDB's.
struct EpisodePool {
  let pool: DatabasePool
  private let folder: URL

  /// Opens the file. In an empty folder the file is created, with its indexes.
  ///
  /// - Throws: `BenchError` if commits are not flushed; the errors of GRDB.
  init(in folder: URL) throws {
    pool = try DatabasePool(path: folder.appending(path: "episodes.sqlite").path)
    self.folder = folder
    // The pool sets NORMAL, which does not flush at a commit, when it turns on WAL.
    let synchronous = try pool.writeWithoutTransaction { database in
      try database.execute(sql: "PRAGMA synchronous = FULL")
      return try Int.fetchOne(database, sql: "PRAGMA synchronous")
    }
    guard synchronous == 2 else {
      throw BenchError(.candidate, "\(CandidateName.grdb): synchronous is not FULL")
    }
    if try !pool.read({ try $0.tableExists("episode") }) { try pool.write(createSchema) }
  }

  /// Moves the log into the database and returns the bytes of the files.
  func fileSize() throws -> Int {
    _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) }
    return try sizeOfFiles(in: folder)
  }

  /// Calls GRDB's blocking write. An asynchronous caller would get the suspending one, which takes
  /// a little longer.
  func commit<Value>(_ updates: (Database) throws -> Value) throws -> Value {
    try pool.write(updates)
  }

  func read<Value>(_ body: (Database) throws -> Value) throws -> Value { try pool.read(body) }
}

/// Creates the table and the seven indexes: the primary key and six others. The sparse ones are
/// partial indexes.
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
