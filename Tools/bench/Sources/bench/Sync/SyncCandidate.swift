import Foundation

/// A candidate that keeps a copy of the feed. One task at a time uses it.
protocol SyncCandidate: Candidate {
  /// Opens the copy in an existing folder. In an empty folder the copy is created, with its
  /// indexes.
  func open(in folder: URL, feed: String) async throws
  /// Releases the copy. It may be opened again.
  func close() throws

  /// Brings the copy up to date. All of it is durable when the method returns.
  func sync(_ turn: SyncTurn) async throws -> SyncOutcome

  /// The copy, for the cross-check.
  var copy: any EpisodeReader { get throws }
}

/// The options of one sync.
struct SyncTurn {
  /// The rows of one commit; nil for the fastest number of the candidate. Mooring has its own
  /// number and ignores this one.
  var rowsPerCommit: Int?
  /// True to fetch all pages without a conditional request.
  var isFull = true
}

/// The outcome of one sync.
enum SyncOutcome: Equatable {
  /// The server answered that nothing has changed.
  case notModified
  /// All pages were read. `commits` is the number of commits with rows, even if none has changed.
  case synced(rows: Int, commits: Int)
}

extension CandidateName {
  /// The candidates of a sync, in the order of their turns.
  static let syncing: [CandidateName] = [.mooring, .sqlite, .grdb, .grdbCached, .raw]

  /// Creates the candidate for syncs.
  func makeSync() throws -> any SyncCandidate {
    switch self {
    case .mooring: MooringSync()
    case .grdb: PageSync(GRDBCandidate(), DecodedPages.init)
    case .grdbCached: PageSync(GRDBCachedCandidate(), DecodedPages.init)
    case .sqlite: try PageSync(SQLiteCandidate(), ParsedPages.init)
    case .raw: try PageSync(RawLMDBCandidate(), ParsedPages.init)
    }
  }
}
