import Foundation

/// A column of the table.
protocol Candidate: AnyObject {
  var name: CandidateName { get }
}

/// One way to read two fields of the episodes of a list.
///
/// Reads of a candidate exist twice: those that return values serve the cross-check, `touch…` is
/// what the clock sees; the two differ only where a Swift value is not what the candidate's users
/// get (the C candidates copy into C structs).
protocol CardReader: Candidate {
  func cards(_ list: HomeList, limit: Int) throws -> [Card]
  func touchCards(_ list: HomeList, limit: Int) throws -> Int
}

/// What is asked of stores that should hold the same rows.
protocol EpisodeReader: Candidate {
  func episode(id: String) throws -> Episode?
  func sumOfDurations() throws -> Int
  /// The number of episodes of the types 1, 2 and 3.
  func countsByType() throws -> [Int]
}

/// One way to keep the episodes. It is driven by one task; every write is durable when its method
/// returns, and suspends where the candidate's own writes do; every read sees a fresh snapshot.
protocol EpisodeStore: CardReader, EpisodeReader {
  /// Opens the store in an existing folder; creates it, with the seven indexes, in an empty one.
  func open(in folder: URL) throws
  /// Releases the store; `open` may follow.
  func close() throws
  /// Bytes of the files, after whatever folds a journal into them.
  func fileSize() throws -> Int

  /// Loads the empty store in arrival order, one durable commit per chunk of the feed.
  func bulkLoad(_ feed: RowFeed) async throws
  /// Loads the empty store by the fastest way the candidate has for rows in any order; false, with
  /// nothing done, when that is `bulkLoad`.
  func sortedLoad(_ feed: RowFeed) async throws -> Bool
  /// Inserts or replaces rows by `id` in one durable commit.
  func upsert(_ page: Rows) async throws
  /// Gives each of these episodes new progress, durably before its producer goes on to its next
  /// one. Where commits cannot be shared, one after another.
  func setProgress(_ changes: [ProgressChange], producers: Int) async throws
  /// Gives all episodes of a type the same progress. Returns how many they are.
  func setProgress(ofType type: Int, to progress: Double) async throws -> Int
  /// Deletes the episodes that were last updated before a date. Returns how many they are.
  func delete(updatedBefore date: Double) async throws -> Int

  /// False when there is none.
  func touchEpisode(id: String) throws -> Bool
  func episodes(_ list: HomeList, limit: Int) throws -> [Episode]
  func touchEpisodes(_ list: HomeList, limit: Int) throws -> Int
  /// The number of episodes that match a filter that no index helps with.
  func count(_ filter: ScanFilter) throws -> Int
  func count(type: Int) throws -> Int
  /// A read of the 20 most recent, decoded, that one other thread may call beside a writer.
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

  func misused() -> BenchError { BenchError(.candidate, "\(name): used before it was opened") }
}

extension CandidateName {
  /// The candidates of these names, in their order. A view reads the store of `mooring`, which
  /// comes with it.
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

/// Bytes of the regular files directly in `folder`.
func sizeOfFiles(in folder: URL) throws -> Int {
  let files = try FileManager.default.contentsOfDirectory(
    at: folder, includingPropertiesForKeys: [.fileSizeKey])
  return try files.reduce(0) { try $0 + ($1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0) }
}
