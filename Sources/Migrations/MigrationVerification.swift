import EntityModel
public import EntityStore

/// A problem with the migrations of a store.
public struct MigrationProblem: Codable, Hashable, Sendable, CustomStringConvertible {
  public var text: String
  public var advice: String?

  public var description: String { advice.map { "\(text); \($0)" } ?? text }
}

extension Store {
  /// Compares the applied migrations with the files that this program knows, and the schema with
  /// the one that those files produce. Changes nothing.
  ///
  /// - Returns: The problems. Empty if a new store to which the same files are applied would have
  ///   this schema.
  /// - Complexity: No record is read.
  public func verifyMigrations() throws -> [MigrationProblem] {
    let catalog = try catalog()
    let lines = try migrationLines
    let state = MigrationState(lines: lines, of: catalog)
    let known = Set(lines.map(\.name))
    let foreign = Set(catalog.history.map(\.line)).subtracting(known).sorted()
    var problems = state.problems
    problems += foreign.map {
      MigrationProblem(
        text: "the files of line \($0) are missing", advice: "name their folder with --migrations")
    }
    // The schema during a migration is not the result of whole files.
    guard problems.isEmpty, catalog.running == nil else { return problems }
    let made = try schemaOfFiles(catalog.history)
    return SchemaComparison(from: made, to: catalog.deferred.restored(in: catalog.schema))
      .differences.map {
        MigrationProblem(
          text: "the schema is not what the files make: \($0)",
          advice: "write a migration that says so: `mooring schema diff`")
      }
  }

  /// Returns the schema that results from the files of the applied migrations, in the order of
  /// their application.
  private func schemaOfFiles(_ history: [AppliedMigration]) throws -> Schema {
    var change = SchemaChange(schema: Schema())
    for entry in history.sorted(by: { $0.sequence < $1.sequence }) {
      let line = try migrationLines.first { $0.name == entry.line }
      guard let file = line?.migrations.first(where: { $0.version == entry.version }) else {
        continue
      }
      for step in file.steps { try change.apply(step, of: file) }
    }
    return change.schema
  }
}

extension MigrationState {
  /// All reasons why a program cannot apply the pending migrations or verify the applied ones.
  fileprivate var problems: [MigrationProblem] {
    var problems: [MigrationProblem] = []
    for newer in unknown {
      problems.append(
        MigrationProblem(
          text: "\(newer.line) \(newer.name) was applied by a newer program",
          advice: "install the version that knows \(newer.line)@\(newer.version)"))
    }
    for (entry, file) in displaced {
      problems.append(
        MigrationProblem(
          text: "\(file.line) \(file.name) has the number of \(entry.name), which was applied",
          advice: "give it the number after the last one of its line"))
    }
    for migration in changed {
      problems.append(
        MigrationProblem(
          text: "\(migration.line) \(migration.name) was changed after it was applied",
          advice: "put the file back as it was and write the change as a new migration"))
    }
    if let running {
      do throws(StoreError) {
        _ = try migration(of: running)
      } catch {
        problems.append(MigrationProblem(text: "\(error)"))
      }
    }
    return problems
  }
}
