import Foundation

/// A sync as programs usually implement it: a loop that fetches a page, reads it and saves its
/// rows.
final class PageSync<Copy: EpisodeStore>: SyncCandidate {
  let name: CandidateName
  private let store: Copy
  private let pages: any FeedPageReader
  private var feed = ""
  private var tagFile: URL?

  /// Creates a sync into a store.
  ///
  /// - Parameter pages: Returns the page reader for the store.
  init(_ store: Copy, _ pages: (Copy) throws -> any FeedPageReader) rethrows {
    name = store.name
    self.store = store
    self.pages = try pages(store)
  }

  var copy: any EpisodeReader { store }

  func open(in folder: URL, feed: String) throws {
    try store.open(in: folder)
    try store.prepareForManyReads()
    self.feed = feed
    tagFile = folder.appending(path: "etag")
  }

  func close() throws { try store.close() }

  func sync(_ turn: SyncTurn) async throws -> SyncOutcome {
    guard let tagFile else { throw store.misused() }
    let client = try FeedClient()
    let known = turn.isFull ? nil : try savedTag(in: tagFile)
    guard case .page(let first, let tag) = try client.get(feed, etag: known) else {
      return .notModified
    }
    var (rows, commits) = (0, 0)
    var next = try pages.add(first)
    while true {
      if next == nil || pages.count >= turn.rowsPerCommit ?? .max {
        rows += pages.count
        commits += 1
        try pages.commit()
      }
      guard let target = next else { break }
      guard case .page(let page, _) = try client.get(address(of: target)) else {
        throw BenchError(.candidate, "\(target): 304 to a request that was not conditional")
      }
      next = try pages.add(page)
    }
    // Written after the rows are durable. If the process is killed before, one more run fetches
    // all.
    try Data(tag.utf8).write(to: tagFile, options: .atomic)
    return .synced(rows: rows, commits: commits)
  }

  private func savedTag(in file: URL) throws -> String? {
    guard FileManager.default.fileExists(atPath: file.path) else { return nil }
    return String(decoding: try Data(contentsOf: file), as: UTF8.self)
  }

  private func address(of target: String) -> String {
    String(feed.dropLast(FeedPages.path.utf8.count)) + target
  }
}

/// A reader that collects the rows of pages and commits them.
protocol FeedPageReader: AnyObject {
  /// The number of rows that are not committed yet.
  var count: Int { get }

  /// Reads a page. The bytes are not used after the call.
  ///
  /// - Returns: The request target of the next page; nil after the last one.
  func add(_ page: UnsafeBufferPointer<CChar>) throws -> String?

  /// Saves the collected rows in one durable commit.
  func commit() throws
}
