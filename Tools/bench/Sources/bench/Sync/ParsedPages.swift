import CEpisodes
import CFeedPages
import Foundation

/// Reads pages with simdjson into C structs and saves them in a store that is implemented in C.
final class ParsedPages: FeedPageReader {
  private let store: any RowSaver
  private let waiting: OpaquePointer

  init(_ store: some RowSaver) throws {
    guard let waiting = feed_rows_create() else {
      throw BenchError(.outOfMemory, "no memory for the rows of a feed")
    }
    self.store = store
    self.waiting = waiting
  }

  deinit { feed_rows_destroy(waiting) }

  var count: Int { rows.count }

  func add(_ page: UnsafeBufferPointer<CChar>) throws -> String? {
    guard let start = page.baseAddress else { return nil }
    // SAFETY: the client leaves the padding after a page that simdjson requires, and C keeps
    // copies.
    var next: UnsafePointer<CChar> = start
    if let failure = feed_rows_read(waiting, start, page.count, &next) {
      throw BenchError(.candidate, "a page of the feed: \(String(cString: failure))")
    }
    let target = String(cString: next)
    return target.isEmpty ? nil : target
  }

  func commit() throws {
    try store.upsert(rows)
    feed_rows_clear(waiting)
  }

  private var rows: UnsafeBufferPointer<episode_row> {
    var count = 0
    let first = feed_rows_all(waiting, &count)
    // SAFETY: C returns `count` rows, which are valid until more are read or all are cleared.
    return UnsafeBufferPointer(start: first, count: count)
  }
}
