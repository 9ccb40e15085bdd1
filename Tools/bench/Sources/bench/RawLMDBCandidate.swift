import CRawLMDB
import Foundation

/// LMDB from C, without any store on top: the floor that the others are measured against.
final class RawLMDBCandidate: Candidate {
  let name: String
  private let options: raw_options
  private var store: OpaquePointer?
  private let result: UnsafeMutablePointer<raw_result>

  init(name: String, layout: raw_layout, integerKeys: Bool = true) {
    self.name = name
    options = raw_options(layout: layout, integer_key: integerKeys)
    // SAFETY: allocated once and freed in `deinit`; C fills it up to its `count` before any read.
    result = .allocate(capacity: 1)
  }

  deinit { result.deallocate() }

  func prepare(in folder: URL) throws {
    try check(raw_store_open(folder.path, options, &store))
  }

  func close() throws {
    if let store { raw_store_close(store) }
    store = nil
  }

  func bulkLoad(_ feed: RowFeed) async throws {
    for rows in feed {
      guard let first = rows.raw.baseAddress else { continue }
      try check(raw_store_insert(opened(), first, rows.raw.count))
    }
  }

  func sortedLoad(_ feed: RowFeed) async throws -> Bool {
    try feed.workload.withAllRows { rows in
      guard let first = rows.baseAddress else { return }
      try check(raw_store_load_sorted(opened(), first, rows.count, 50_000))
    }
    return true
  }

  func pageUpsert(_ page: Rows) async throws {
    guard let first = page.raw.baseAddress else { return }
    try check(raw_store_upsert(opened(), first, page.raw.count))
  }

  func deleteOldest(_ count: Int) async throws {
    try check(raw_store_delete_oldest(opened(), count, 10_000))
  }

  func episode(id: String) throws -> Episode? {
    try touchEpisode(id: id) ? fetched.first.map { Episode($0) } : nil
  }

  func episodes(_ list: HomeList, limit: Int) throws -> [Episode] {
    _ = try touchEpisodes(list, limit: limit)
    return fetched.map { Episode($0) }
  }

  func countByType() throws -> [Int] {
    var counts = [0, 0, 0]
    try check(raw_store_count_by_type(opened(), &counts))
    return counts
  }

  func touchEpisode(id: String) throws -> Bool {
    let store = try opened()
    let code = withText(id) { raw_store_get(store, $0, result) }
    if code == raw_not_found { return false }
    try check(code)
    return true
  }

  func touchEpisodes(_ list: HomeList, limit: Int) throws -> Int {
    let store = try opened()
    let (kind, path) = list.raw
    try check(withText(path) { raw_store_list(store, kind, $0, limit, result) })
    return result.pointee.count
  }

  /// Builds one more index, as a careful C programmer does it.
  func buildIndex(rows: Int) throws {
    try check(raw_store_build_index(opened(), rows, 10_000))
  }

  func fileSize() throws -> Int {
    var bytes = 0
    try check(raw_store_size(opened(), &bytes))
    return bytes
  }

  private func opened() throws -> OpaquePointer {
    guard let store else { throw BenchError(.candidate, "\(name): used before it was prepared") }
    return store
  }

  private func check(_ code: Int32) throws {
    guard code != 0 else { return }
    throw BenchError(.candidate, "\(name): \(String(cString: raw_error(code)))")
  }

  private var fetched: UnsafeBufferPointer<raw_row> {
    // SAFETY: `rows` begins at its field's offset in the result, and C has filled `count` of them.
    let rows = UnsafeRawPointer(result).advanced(
      by: MemoryLayout<raw_result>.offset(of: \raw_result.rows) ?? 0)
    return UnsafeBufferPointer(
      start: rows.assumingMemoryBound(to: raw_row.self), count: result.pointee.count)
  }
}

/// Passes the bytes of `string` to C for the length of the call.
private func withText(_ string: String, _ body: (raw_text) -> Int32) -> Int32 {
  var string = string
  return string.withUTF8 { utf8 in
    // SAFETY: C reads `length` bytes during the call only and keeps no pointer.
    utf8.withMemoryRebound(to: CChar.self) {
      body(raw_text(bytes: $0.baseAddress, length: UInt32($0.count)))
    }
  }
}

extension HomeList {
  fileprivate var raw: (raw_list, path: String) {
    switch self {
    case .recent: (raw_list_recent, "")
    case .favorites: (raw_list_favorites, "")
    case .watchLater: (raw_list_watch_later, "")
    case .free: (raw_list_free, "")
    case .histories: (raw_list_history, "")
    case .learningPath(let path): (raw_list_path, path)
    }
  }
}
