import Foundation

/// One way to keep the episodes. A candidate is driven by one task; every write is durable when its
/// method returns, and suspends where the candidate's own writes do; every read sees a fresh
/// snapshot.
///
/// Reads exist twice: `episode` and `episodes` return values and serve the cross-check; `touch…`
/// is what the clock sees, and a candidate overrides it only when returning a Swift value is not
/// what its users do (the C candidates decode into C structs).
protocol Candidate: AnyObject {
  /// The column heading.
  var name: String { get }

  /// Creates an empty store in an existing, empty folder, with the seven indexes declared.
  func prepare(in folder: URL) throws
  /// Releases the store; `prepare` may follow.
  func close() throws

  /// Loads the empty store in arrival order, one durable commit per chunk of the feed.
  func bulkLoad(_ feed: RowFeed) async throws
  /// Loads the empty store by the fastest way the candidate has for rows in any order; false, with
  /// nothing done, when that is `bulkLoad`.
  func sortedLoad(_ feed: RowFeed) async throws -> Bool
  /// Inserts or replaces rows by `id` in one durable commit.
  func pageUpsert(_ page: Rows) async throws
  /// Deletes the `count` least recently updated rows, 10,000 to a durable commit.
  func deleteOldest(_ count: Int) async throws

  func episode(id: String) throws -> Episode?
  func episodes(_ list: HomeList, limit: Int) throws -> [Episode]
  /// The number of episodes of types 1, 2 and 3.
  func countByType() throws -> [Int]

  /// Finds the episode and decodes all its fields; false when there is none.
  func touchEpisode(id: String) throws -> Bool
  /// Fetches the list, decodes all fields, and returns the number of rows.
  func touchEpisodes(_ list: HomeList, limit: Int) throws -> Int

  /// Bytes of the files, after whatever folds a journal into them.
  func fileSize() throws -> Int
}

extension Candidate {
  func sortedLoad(_ feed: RowFeed) async throws -> Bool { false }
  func touchEpisode(id: String) throws -> Bool { try episode(id: id) != nil }
  func touchEpisodes(_ list: HomeList, limit: Int) throws -> Int {
    try episodes(list, limit: limit).count
  }
}

/// The six lists of the home page; dates sort newest first.
enum HomeList: Equatable {
  /// All, by `updatedAt`.
  case recent
  /// Those with the date, by it.
  case favorites, watchLater, histories
  /// Those of `freeType`, by `updatedAt`.
  case free
  /// One learning path, by `position`, lowest first.
  case learningPath(String)
}

/// Bytes of the regular files directly in `folder`.
func sizeOfFiles(in folder: URL) throws -> Int {
  let files = try FileManager.default.contentsOfDirectory(
    at: folder, includingPropertiesForKeys: [.fileSizeKey])
  return try files.reduce(0) { try $0 + ($1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0) }
}
