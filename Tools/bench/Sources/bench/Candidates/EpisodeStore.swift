import Foundation

/// A way to do the compared work: a column of the table.
protocol Candidate: AnyObject {
  var name: CandidateName { get }
}

/// A candidate that reads two fields of the episodes of a list.
///
/// Each read has two forms. One returns values for the cross-check. The other one, `touch…`, is
/// timed; it ends when the values exist that the users of the candidate work with, which are C
/// structs for the C candidates.
protocol CardReader: Candidate {
  func cards(_ list: HomeList, limit: Int) throws -> [Card]
  func touchCards(_ list: HomeList, limit: Int) throws -> Int
}

/// A candidate that answers the questions by which copies of the same rows are compared.
protocol EpisodeReader: Candidate {
  func episode(id: String) throws -> Episode?
  func sumOfDurations() throws -> Int
  /// The number of episodes of the types 1, 2 and 3.
  func countsByType() throws -> [Int]
}

/// A store of the episodes. One task at a time uses it. Each write is durable when its method
/// returns, and suspends where the writes of the candidate do. Each read sees a new snapshot.
protocol EpisodeStore: CardReader, EpisodeReader {
  /// Opens the store in an existing folder. In an empty folder the store is created, with the seven
  /// indexes.
  func open(in folder: URL) throws
  /// Releases the store. It may be opened again.
  func close() throws
  /// Returns the bytes of the files, after a checkpoint if there is a journal.
  func fileSize() throws -> Int

  /// Loads the empty store in arrival order, one durable commit per chunk of the feed.
  func bulkLoad(_ feed: RowFeed) async throws
  /// Loads the empty store in the fastest way that the candidate has for rows in any order. Returns
  /// false and does nothing if that way is `bulkLoad`.
  func sortedLoad(_ feed: RowFeed) async throws -> Bool
  /// Inserts or replaces rows by `id` in one durable commit.
  func upsert(_ page: Rows) async throws
  /// Sets the progress of each of these episodes. A producer starts its next change when the last
  /// one is durable. A candidate that cannot share commits makes the changes one after another.
  func setProgress(_ changes: [ProgressChange], producers: Int) async throws
  /// Sets the progress of all episodes of a type. Returns how many there are.
  func setProgress(ofType type: Int, to progress: Double) async throws -> Int
  /// Deletes the episodes that were last updated before a date. Returns how many there were.
  func delete(updatedBefore date: Double) async throws -> Int

  /// Reads an episode. Returns false if there is none with this id.
  func touchEpisode(id: String) throws -> Bool
  func episodes(_ list: HomeList, limit: Int) throws -> [Episode]
  func touchEpisodes(_ list: HomeList, limit: Int) throws -> Int
  /// Counts the episodes that match a filter, by a scan.
  func count(_ filter: ScanFilter) throws -> Int
  func count(type: Int) throws -> Int
  /// Returns a read of the 20 most recent episodes, decoded. One other thread may call it while
  /// this store is written.
  func recentReader() throws -> @Sendable () throws -> Int
}

/// A store of Swift values.
protocol EpisodeSaver: EpisodeStore {
  /// Inserts or replaces episodes by `id` in one durable commit.
  func save(_ episodes: [Episode]) throws
}

extension EpisodeSaver {
  func upsert(_ page: Rows) async throws { try save(page.episodes) }
}

extension EpisodeStore {
  func sortedLoad(_ feed: RowFeed) async throws -> Bool { false }
  func touchCards(_ list: HomeList, limit: Int) throws -> Int {
    try cards(list, limit: limit).count
  }
  func touchEpisode(id: String) throws -> Bool { try episode(id: id) != nil }
  func touchEpisodes(_ list: HomeList, limit: Int) throws -> Int {
    try episodes(list, limit: limit).count
  }

  /// Returns the error for a call before `open`.
  func misused() -> BenchError { BenchError(.candidate, "\(name): used before it was opened") }
}

extension CandidateName {
  /// Creates the candidates with these names, in the given order. A view reads the store of
  /// `mooring`, which must be among them.
  static func make(_ names: [CandidateName]) throws -> [any Candidate] {
    var candidates: [any Candidate] = []
    let mooring = MooringCandidate()
    for name in names {
      switch name {
      case .mooring: candidates.append(mooring)
      case .mooringView: candidates.append(MooringView(of: mooring))
      case .grdb: candidates.append(GRDBCandidate())
      case .grdbCached: candidates.append(GRDBCachedCandidate())
      case .sqlite: candidates.append(try SQLiteCandidate())
      case .raw: candidates.append(try RawLMDBCandidate())
      }
    }
    return candidates
  }
}

/// Returns the bytes of the files directly in `folder`.
func sizeOfFiles(in folder: URL) throws -> Int {
  let files = try FileManager.default.contentsOfDirectory(
    at: folder, includingPropertiesForKeys: [.fileSizeKey])
  return try files.reduce(0) { try $0 + ($1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0) }
}
