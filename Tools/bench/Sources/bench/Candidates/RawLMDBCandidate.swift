import CEpisodes
import CRawLMDB
import Foundation

/// LMDB used from C, without a store on top: the lower bound of what Mooring can reach.
final class RawLMDBCandidate: RowSaver, DeferringLoader {
  let name = CandidateName.raw
  private var store: OpaquePointer?
  private var reader: OpaquePointer?
  let found: EpisodeResult

  init() throws { found = try EpisodeResult() }

  func open(in folder: URL) throws {
    try check(raw_store_open(folder.path, &store))
    try check(raw_reader_open(opened(), &reader))
  }

  func close() throws {
    if let reader { raw_reader_close(reader) }
    if let store { raw_store_close(store) }
    reader = nil
    store = nil
  }

  func fileSize() throws -> Int {
    var bytes = 0
    try check(raw_store_size(opened(), &bytes))
    return bytes
  }

  // MARK: Writes

  func bulkLoad(_ feed: RowFeed) async throws {
    for rows in feed {
      guard let first = rows.forC.baseAddress else { continue }
      try check(raw_store_insert(opened(), first, rows.forC.count))
    }
  }

  /// The unique index, too, is built after the records.
  func loadBeforeIndexes(_ feed: RowFeed) async throws { try sortedLoad(feed.workload) }

  /// Loads the empty store in the fastest way: each tree sorted and appended.
  func sortedLoad(_ workload: Workload) throws {
    try workload.withAllRows { rows in
      guard let first = rows.baseAddress else { return }
      try check(raw_store_load_sorted(opened(), first, rows.count, 50_000))
    }
  }

  func upsert(_ rows: UnsafeBufferPointer<episode_row>) throws {
    guard let first = rows.baseAddress else { return }
    try check(raw_store_upsert(opened(), first, rows.count))
  }

  /// Commits as many changes at a time as there are producers.
  func setProgress(_ changes: [ProgressChange], by producers: Producers) async throws {
    let store = try opened()
    for start in stride(from: 0, to: changes.count, by: producers.count) {
      let group = changes[start..<min(start + producers.count, changes.count)]
      let progress = group.map(\.progress)
      try check(
        withTexts(group.map(\.id)) { raw_store_set_progress(store, $0, progress, group.count) })
    }
  }

  func setProgress(ofType type: Int, to progress: Double) async throws -> Int {
    var updated = 0
    try check(raw_store_update_type(opened(), Int64(type), progress, batchRows, &updated))
    return updated
  }

  func delete(updatedBefore date: Double) async throws -> Int {
    var deleted = 0
    try check(raw_store_delete_before(opened(), date, batchRows, &deleted))
    return deleted
  }

  /// The rows of one commit of a batch, as many as Mooring commits.
  private var batchRows: Int { 5_000 }

  // MARK: Reads

  func touchEpisode(id: String) throws -> Bool {
    let reader = try reading()
    let code = withText(id) { raw_reader_get(reader, $0, found.result) }
    if code == raw_not_found { return false }
    try check(code)
    return true
  }

  func touchEpisodes(_ list: HomeList, limit: Int) throws -> Int {
    let reader = try reading()
    let (kind, path) = list.forC
    try check(withText(path) { raw_reader_list(reader, kind, $0, limit, found.result) })
    return found.count
  }

  func touchCards(_ list: HomeList, limit: Int) throws -> Int {
    let reader = try reading()
    let (kind, path) = list.forC
    try check(withText(path) { raw_reader_cards(reader, kind, $0, limit, found.result) })
    return found.count
  }

  func count(_ filter: ScanFilter) throws -> Int {
    var matches = 0
    try check(raw_reader_scan(reading(), filter.forC, &matches))
    return matches
  }

  func sumOfDurations() throws -> Int {
    var sum: Int64 = 0
    try check(raw_reader_sum_duration(reading(), &sum))
    return Int(sum)
  }

  func count(type: Int) throws -> Int {
    var count = 0
    try check(raw_reader_count_type(reading(), Int64(type), &count))
    return count
  }

  func countsByType() throws -> [Int] {
    var counts = [0, 0, 0]
    try check(raw_reader_group_by_type(reading(), &counts))
    return counts
  }

  func recentReader() throws -> @Sendable () throws -> Int {
    var reader: OpaquePointer?
    try check(raw_reader_open(opened(), &reader))
    guard let reader else { throw misused() }
    let own = OwnReader(reader, try EpisodeResult())
    return { try own.read() }
  }

  /// Builds one more index: reads all records, sorts the keys in memory and appends them.
  func buildIndex(rows: Int) throws {
    try check(raw_store_build_index(opened(), rows, 10_000))
  }

  private func opened() throws -> OpaquePointer {
    guard let store else { throw misused() }
    return store
  }

  private func reading() throws -> OpaquePointer {
    guard let reader else { throw misused() }
    return reader
  }
}

/// A reader for a thread of its own.
///
/// SAFETY: the owner of its closure calls it from one thread at a time, and releases it before the
/// store is closed.
private final class OwnReader: @unchecked Sendable {
  private let reader: OpaquePointer
  let found: EpisodeResult

  init(_ reader: OpaquePointer, _ found: EpisodeResult) {
    self.reader = reader
    self.found = found
  }

  deinit { raw_reader_close(reader) }

  func read() throws -> Int {
    let path = episode_text(bytes: nil, length: 0)
    try check(raw_reader_list(reader, episode_list_recent, path, 20, found.result))
    return found.count
  }
}

private func check(_ code: Int32) throws {
  guard code != 0 else { return }
  throw BenchError(.candidate, "\(CandidateName.raw): \(String(cString: raw_error(code)))")
}

/// Passes the bytes of some strings to C. They are valid during the call only.
private func withTexts(
  _ strings: [String], _ body: (UnsafePointer<episode_text>) -> Int32
) -> Int32 {
  let bytes = strings.flatMap(\.utf8).map { CChar(bitPattern: $0) }
  // SAFETY: the texts lie one after another in `bytes`, and C keeps no pointer.
  return bytes.withUnsafeBufferPointer { bytes in
    var offset = 0
    let texts = strings.map { string in
      defer { offset += string.utf8.count }
      return episode_text(
        bytes: bytes.baseAddress.map { $0 + offset }, length: UInt32(string.utf8.count))
    }
    return texts.withUnsafeBufferPointer { $0.baseAddress.map(body) ?? 0 }
  }
}
