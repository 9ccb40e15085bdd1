import ArgumentParser

/// The name of a candidate: a column of the table and a value of `--candidates`.
enum CandidateName: String, CaseIterable, ExpressibleByArgument, CustomStringConvertible {
  case mooring
  case mooringView = "mooring-view"
  case grdb
  case grdbCached = "grdb-cached"
  case sqlite
  case raw

  /// All names, for a help text.
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
}
