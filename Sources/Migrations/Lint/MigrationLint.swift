import EntityModel
public import EntityStore

/// Checks migration files before anything runs, and lists all problems.
///
/// Nothing is changed, and no record is read. A problem that depends on records is a warning.
public enum MigrationLint {
  /// Returns the findings for all files.
  ///
  /// - Parameter sources: The lines to check, together with the lines that they require. The
  ///   store's own line, `system`, is added.
  /// - Parameter store: The store that the files would be applied to. It may have been opened with
  ///   other lines, or with none. Only its pending migrations are checked against its schema; `nil`
  ///   checks all files as for a new store.
  /// - Parameter codes: The code steps of the program that will run the files; empty if another
  ///   program will run them.
  /// - Returns: The findings by file, in the order in which the files would be applied; empty if
  ///   there are none.
  /// - Throws: The errors of reading the store's catalog. A problem of a file is a finding, not an
  ///   error.
  public static func findings(
    in sources: [MigrationSource], against store: Store?, codes: [MigrationCode]
  ) throws -> [LintFinding] {
    let base = try store.map { LintBase(try $0.catalog()) } ?? LintBase()
    return findings(in: [.system] + sources, against: base, codes: codes)
  }

  static func findings(
    in sources: [MigrationSource], against base: LintBase, codes: [MigrationCode]
  ) -> [LintFinding] {
    let files = LintFiles(sources, history: base.history)
    let state = MigrationState(lines: files.lines, history: base.history, running: base.running)
    var simulation = LintSimulation(files, base, codes: codes)
    simulation.run(state.pending)
    let findings =
      files.findings + LintHistory(state: state, base: base, files: files).findings
      + LintRequirements(state.unmet, files.migrations, base.history).findings
      + simulation.findings
    return sorted(findings, by: state.pending)
  }

  /// Sorts the findings so that those about one file stand together.
  private static func sorted(
    _ findings: [LintFinding], by pending: [Migration]
  ) -> [LintFinding] {
    let keyed = findings.enumerated().map { number, finding in
      let place = pending.firstIndex { $0.line == finding.line && $0.name == finding.migration }
      // Findings that affect all files come first: their files are not applied.
      return (place: place ?? -1, step: finding.step ?? 0, number: number, finding: finding)
    }
    return keyed.sorted {
      ($0.place, $0.step, $0.number) < ($1.place, $1.step, $1.number)
    }.map(\.finding)
  }
}

/// The state that files are checked against: a store's schema and history, or an empty one.
struct LintBase {
  var schema = Schema()
  /// The applied migrations, in the order of their application.
  var history: [AppliedMigration] = []
  var running: RunningMigration?

  init() {}

  init(_ catalog: Catalog) {
    schema = catalog.deferred.restored(in: catalog.schema)
    history = catalog.history.sorted { $0.sequence < $1.sequence }
    running = catalog.running
  }
}
