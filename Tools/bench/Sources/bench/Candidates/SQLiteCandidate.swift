import CEpisodes
import CSQLiteStore
import Foundation

/// SQLite used from C with prepared statements, a large cache and a map.
final class SQLiteCandidate: RowSaver, DeferringLoader {
  let name = CandidateName.sqlite
  private var store: OpaquePointer?
  private var folder: URL?
  let found: EpisodeResult

  init() throws { found = try EpisodeResult() }

  func open(in folder: URL) throws {
    store = try connection(in: folder)
    self.folder = folder
  }

  func close() throws {
    if let store { sqlite_store_close(store) }
    store = nil
  }

  func prepareForManyReads() throws { try check(sqlite_store_map(opened())) }

  func fileSize() throws -> Int {
    guard let folder else { throw misused() }
    try check(sqlite_store_checkpoint(opened()))
    return try sizeOfFiles(in: folder)
  }

  // MARK: Writes

  func bulkLoad(_ feed: RowFeed) async throws {
    for rows in feed {
      guard let first = rows.forC.baseAddress else { continue }
      try check(sqlite_store_insert(opened(), first, rows.forC.count))
    }
  }

  func loadBeforeIndexes(_ feed: RowFeed) async throws {
    try check(sqlite_store_drop_indexes(opened()))
    try await bulkLoad(feed)
    try check(sqlite_store_create_indexes(opened()))
  }

  func upsert(_ rows: UnsafeBufferPointer<episode_row>) throws {
    guard let first = rows.baseAddress else { return }
    try check(sqlite_store_upsert(opened(), first, rows.count))
  }

  func setProgress(_ changes: [ProgressChange], by producers: Producers) async throws {
    let store = try opened()
    for change in changes {
      try check(withText(change.id) { sqlite_store_set_progress(store, $0, change.progress) })
    }
  }

  func setProgress(ofType type: Int, to progress: Double) async throws -> Int {
    var updated = 0
    try check(sqlite_store_update_type(opened(), Int64(type), progress, &updated))
    return updated
  }

  func delete(updatedBefore date: Double) async throws -> Int {
    var deleted = 0
    try check(sqlite_store_delete_before(opened(), date, &deleted))
    return deleted
  }

  // MARK: Reads

  func touchEpisode(id: String) throws -> Bool {
    let store = try opened()
    let code = withText(id) { sqlite_store_get(store, $0, found.result) }
    if code == sqlite_store_not_found { return false }
    try check(code)
    return true
  }

  func touchEpisodes(_ list: HomeList, limit: Int) throws -> Int {
    let store = try opened()
    let (kind, path) = list.forC
    try check(withText(path) { sqlite_store_list(store, kind, $0, limit, found.result) })
    return found.count
  }

  func touchCards(_ list: HomeList, limit: Int) throws -> Int {
    let store = try opened()
    let (kind, path) = list.forC
    try check(withText(path) { sqlite_store_cards(store, kind, $0, limit, found.result) })
    return found.count
  }

  func count(_ filter: ScanFilter) throws -> Int {
    var matches = 0
    try check(sqlite_store_scan(opened(), filter.forC, &matches))
    return matches
  }

  func sumOfDurations() throws -> Int {
    var sum: Int64 = 0
    try check(sqlite_store_sum_duration(opened(), &sum))
    return Int(sum)
  }

  func count(type: Int) throws -> Int {
    var count = 0
    try check(sqlite_store_count_type(opened(), Int64(type), &count))
    return count
  }

  func countsByType() throws -> [Int] {
    var counts = [0, 0, 0]
    try check(sqlite_store_group_by_type(opened(), &counts))
    return counts
  }

  func recentReader() throws -> @Sendable () throws -> Int {
    guard let folder else { throw misused() }
    let connection = try connection(in: folder)
    let own = OwnConnection(connection, try EpisodeResult())
    try check(sqlite_store_map(connection))
    return { try own.read() }
  }

  private func connection(in folder: URL) throws -> OpaquePointer {
    var connection: OpaquePointer?
    try check(sqlite_store_open(folder.appending(path: "episodes.sqlite").path, &connection))
    guard let connection else { throw misused() }
    return connection
  }

  private func opened() throws -> OpaquePointer {
    guard let store else { throw misused() }
    return store
  }
}

/// A connection for a thread of its own.
///
/// SAFETY: the owner of its closure calls it from one thread at a time.
private final class OwnConnection: @unchecked Sendable {
  private let store: OpaquePointer
  let found: EpisodeResult

  init(_ store: OpaquePointer, _ found: EpisodeResult) {
    self.store = store
    self.found = found
  }

  deinit { sqlite_store_close(store) }

  func read() throws -> Int {
    let path = episode_text(bytes: nil, length: 0)
    try check(sqlite_store_list(store, episode_list_recent, path, 20, found.result))
    return found.count
  }
}

private func check(_ code: Int32) throws {
  guard code != 0 else { return }
  throw BenchError(
    .candidate, "\(CandidateName.sqlite): \(String(cString: sqlite_store_error(code)))")
}
