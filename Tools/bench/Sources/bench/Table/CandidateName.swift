import ArgumentParser

enum CandidateName: String, CaseIterable, ExpressibleByArgument, CustomStringConvertible {
  case mooring
  case mooringView = "mooring-view"
  case grdb
  case grdbCached = "grdb-cached"
  case sqlite
  case raw

  static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }

  /// The column heading.
  var description: String {
    switch self {
    case .mooring: "Mooring"
    case .mooringView: "Mooring view"
    case .grdb: "GRDB"
    case .grdbCached: "GRDB cached"
    case .sqlite: "SQLite C"
    case .raw: "raw LMDB C"
    }
  }

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
