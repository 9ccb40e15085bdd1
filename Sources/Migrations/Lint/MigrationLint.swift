import EntityModel
public import EntityStore

/// Looks for what is wrong with migration files before anything runs, and lists all of it.
///
/// Nothing is changed, and no record is read: what depends on records is a warning.
public enum MigrationLint {
  /// - Parameter sources: The lines to check, among them those that they require. The store's own
  ///   line, `system`, is added.
  /// - Parameter store: What the files would be applied to. It may have been opened with other
  ///   lines, or with none. Only what is pending there is held against its schema; `nil` checks all
  ///   files as for a new store.
  /// - Parameter codes: The code steps of the program that will run the files; empty if that is
  ///   another one.
  /// - Returns: Findings by file, in the order in which the files would be applied; empty if there
  ///   are none.
  /// - Throws: What reading the store's catalog throws. What is wrong with a file is a finding.
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
      files.findings + LintHistory(state, base, files).findings
      + LintRequirements(state.unmet, files.migrations, base.history).findings
      + simulation.findings
    return sorted(findings, by: state.pending)
  }

  /// What is about one file stands together.
  private static func sorted(
    _ findings: [LintFinding], by pending: [Migration]
  ) -> [LintFinding] {
    struct Name: Hashable {
      let line: String?
      let migration: String
    }
    var places: [Name: Int] = [:]
    for (place, migration) in pending.enumerated() {
      places[Name(line: migration.line, migration: migration.name)] = place
    }
    // What stands in the way of all comes first: it is about files that are not applied.
    let keyed = findings.enumerated().map { number, finding in
      let place = places[Name(line: finding.line, migration: finding.migration)] ?? -1
      return (place: place, step: finding.step ?? 0, number: number, finding: finding)
    }
    return keyed.sorted {
      ($0.place, $0.step, $0.number) < ($1.place, $1.step, $1.number)
    }.map(\.finding)
  }
}

/// What files are held against: a store's schema and history, or nothing.
struct LintBase {
  var schema = Schema()
  /// In the order in which it was applied.
  var history: [AppliedMigration] = []
  var running: RunningMigration?

  init() {}

  init(_ catalog: Catalog) {
    schema = catalog.schema
    history = catalog.history.sorted { $0.sequence < $1.sequence }
    running = catalog.running
  }
}
