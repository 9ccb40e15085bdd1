import Foundation

/// A way to do the compared work: a column of the table.
protocol Candidate: AnyObject {
  var name: CandidateName { get }
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
///
/// Reads of lists have two forms. One returns values for the cross-check. The other one, `touch…`,
/// is timed; it ends when all fields of all rows exist as the values that the users of the
/// candidate work with, which are C structs for the C candidates. A value that is decoded when it
/// is used has to be used.
protocol EpisodeStore: EpisodeReader {
  /// Opens the store in an existing folder. In an empty folder the store is created, with the seven
  /// indexes.
  func open(in folder: URL) throws
  /// Chooses what is faster for many reads and slower for the first one. Called after `open`; a
  /// cold opening calls it after its first page.
  func prepareForManyReads() throws
  /// Releases the store. It may be opened again.
  func close() throws
  /// Returns the bytes of the files, after a checkpoint if there is a journal.
  func fileSize() throws -> Int

  /// Loads the empty store in arrival order, one durable commit per chunk of the feed.
  func bulkLoad(_ feed: RowFeed) async throws
  /// Inserts or replaces rows by `id` in one durable commit.
  func upsert(_ page: Rows) async throws
  /// Sets the progress of each of these episodes. A producer starts its next change when the last
  /// one is durable. A candidate that cannot share commits makes the changes one after another.
  func setProgress(_ changes: [ProgressChange], by producers: Producers) async throws
  /// Sets the progress of all episodes of a type. Returns how many there are.
  func setProgress(ofType type: Int, to progress: Double) async throws -> Int
  /// Deletes the episodes that were last updated before a date. Returns how many there were.
  func delete(updatedBefore date: Double) async throws -> Int

  /// Reads an episode. Returns false if there is none with this id.
  func touchEpisode(id: String) throws -> Bool
  func episodes(_ list: HomeList, limit: Int) throws -> [Episode]
  func touchEpisodes(_ list: HomeList, limit: Int) throws -> Int
  /// Two fields of the episodes of a list.
  func cards(_ list: HomeList, limit: Int) throws -> [Card]
  func touchCards(_ list: HomeList, limit: Int) throws -> Int
  /// Counts the episodes that match a filter, by a scan.
  func count(_ filter: ScanFilter) throws -> Int
  func count(type: Int) throws -> Int
  /// Returns a read of the 20 most recent episodes, decoded. One other thread may call it while
  /// this store is written.
  func recentReader() throws -> @Sendable () throws -> Int
}

/// The producers of single changes. The calls of the C libraries block in all cases.
enum Producers {
  /// One thread, which blocks until its change is durable.
  case thread
  /// Tasks, each of which awaits its change.
  case tasks(Int)

  var count: Int {
    switch self {
    case .thread: 1
    case .tasks(let count): count
    }
  }
}

/// A store that can read two fields of the episodes of a list without copying them.
protocol CardViewer: EpisodeStore {
  func cardsInPlace(_ list: HomeList, limit: Int) throws -> [Card]
  func touchCardsInPlace(_ list: HomeList, limit: Int) throws -> Int
}

/// A store that can build its indexes after a load.
protocol DeferringLoader: EpisodeStore {
  /// Loads the empty store in arrival order, and then builds all indexes but the unique one, which
  /// the candidate maintains or builds as it likes. A candidate may read `feed.workload` itself:
  /// the time in which it creates its rows is then part of the load.
  func loadBeforeIndexes(_ feed: RowFeed) async throws
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
  func prepareForManyReads() throws {}
  func touchEpisode(id: String) throws -> Bool { try episode(id: id) != nil }

  /// Returns the error for a call before `open`.
  func misused() -> BenchError { BenchError(.candidate, "\(name): used before it was opened") }
}

extension CandidateName {
  /// Creates the store of the candidate.
  func makeStore() throws -> any EpisodeStore {
    switch self {
    case .sqlite: try SQLiteCandidate()
    case .grdb: GRDBCandidate()
    case .grdbCached: GRDBCachedCandidate()
    case .raw: try RawLMDBCandidate()
    case .mooring: MooringCandidate()
    }
  }
}

/// Returns the bytes of the files directly in `folder`.
func sizeOfFiles(in folder: URL) throws -> Int {
  let files = try FileManager.default.contentsOfDirectory(
    at: folder, includingPropertiesForKeys: [.fileSizeKey])
  return try files.reduce(0) { try $0 + ($1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0) }
}
