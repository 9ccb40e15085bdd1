import ArgumentParser

/// The name of a candidate: a column of the table, in their order, and a value of `--candidates`.
enum CandidateName: String, CaseIterable, ExpressibleByArgument, CustomStringConvertible {
  case sqlite
  case grdb
  case grdbCached = "grdb-cached"
  case raw
  case mooring

  /// All names, for a help text.
  static var list: String { allCases.map(\.rawValue).joined(separator: ", ") }

  /// The columns of a run without `--candidates`.
  static let usual: [CandidateName] = allCases.filter { $0 != .grdbCached }

  /// The column heading.
  var description: String {
    switch self {
    case .sqlite: "SQLite C"
    case .grdb: "GRDB"
    case .grdbCached: "GRDB cached"
    case .raw: "raw C"
    case .mooring: "Mooring"
    }
  }
}
