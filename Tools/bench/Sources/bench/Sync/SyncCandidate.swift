import Foundation

/// One way to keep a copy of the feed. It is driven by one task.
protocol SyncCandidate: Candidate {
  /// Opens the copy in an existing folder; creates it, with the indexes, in an empty one.
  func open(in folder: URL, feed: String) async throws
  /// `open` may follow.
  func close() throws

  /// Brings the copy up to date. When it returns, all of it is on the disk.
  func sync(_ turn: SyncTurn) async throws -> SyncOutcome

  /// What the copy holds, for the cross-check.
  var copy: any EpisodeReader { get throws }
}

/// How a sync is run.
struct SyncTurn {
  /// Nil for what the candidate is quickest with. Mooring has a number of its own.
  var rowsPerCommit: Int?
  /// Fetches all pages, whatever has changed.
  var isFull = true
}

enum SyncOutcome: Equatable {
  /// The server has said that nothing has changed.
  case notModified
  /// - Parameter commits: How many of its commits had rows to save, if any of them was new.
  case synced(rows: Int, commits: Int)
}

extension CandidateName {
  static let syncing: [CandidateName] = [.mooring, .grdb, .grdbCached, .sqlite, .raw]

  func makeSync() throws -> any SyncCandidate {
    switch self {
    case .mooring, .mooringView: MooringSync()
    case .grdb: PageSync(GRDBCandidate(), DecodedPages.init)
    case .grdbCached: PageSync(GRDBCachedCandidate(), DecodedPages.init)
    case .sqlite: try PageSync(SQLiteCandidate(), ParsedPages.init)
    case .raw: try PageSync(RawLMDBCandidate(), ParsedPages.init)
    }
  }
}
