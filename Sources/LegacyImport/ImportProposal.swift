import EntityModel
import EntityStore

/// A proposal for an import: a mapping and a migration, as files that a person edits.
public struct ImportProposal: Sendable {
  public let name: String
  /// `coreData` or `plain`.
  public let dialect: String
  /// The mapping file.
  public let mapping: String
  /// The migration file that creates the entities of the mapping.
  public let migration: String
  /// The entities, each with its table and the number of rows, in the order of the mapping. The
  /// number is `nil` for a damaged table.
  public let entities: [(entity: String, table: String, rows: Int64?)]
  /// Facts about the file that are normal and good to know, each on one line.
  public let notes: [String]
  /// Problems that may have cost rows, or will, each on one line.
  public let warnings: [String]
  /// Guesses that a person must confirm before a run, as `Entity.property: why`.
  public let unconfirmed: [String]

  /// False if the migration has no steps: the schema has all entities already.
  public let hasMigration: Bool

  /// - Parameter taken: The names that no entity of the proposal gets.
  /// - Throws: `mapping` for a model of a file that is none of Core Data's; what reading throws.
  init(
    _ database: SourceDatabase, name: String, _ inheritance: ImportInheritance?,
    model: ManagedObjectModel?, besides taken: Set<String>
  ) throws {
    self.init(
      try Self.suggestedImport(of: database, name: name, inheritance, model, besides: taken),
      of: database)
  }

  /// Creates the proposal that brings a mapping up to date with a newer version of its file.
  ///
  /// - Parameter taken: The names that no new entity gets.
  init(
    updating old: ImportMapping, _ schema: Schema, _ database: SourceDatabase,
    model: ManagedObjectModel?, besides taken: Set<String>
  ) throws {
    let entries = old.entities.map { [$0.entity, $0.table] }
    let suggested = try Self.suggestedImport(
      of: database, name: old.name, Set(entries).count < entries.count ? .merged : .separate, model,
      besides: taken)
    let update = MappingUpdate(of: old, with: suggested, schema, in: database.tables)
    self.init(
      SuggestedImport(
        mapping: update.mapping, steps: update.additions.steps,
        warnings: suggested.warnings + update.warnings),
      of: database, changes: update.changes)
  }

  private init(
    _ suggested: SuggestedImport, of database: SourceDatabase, changes: [String] = []
  ) {
    name = suggested.mapping.name
    dialect = suggested.mapping.dialect.rawValue
    mapping = MappingFile.text(of: suggested.mapping)
    migration = suggested.migrationText
    hasMigration = !suggested.steps.isEmpty
    // A damaged table has no count.
    entities = suggested.mapping.entities.map { entity in
      (
        entity.entity, entity.table,
        database.table(entity.table).flatMap { try? database.count($0) }
      )
    }
    notes =
      database.report.notes + [database.report.writeAheadLog?.note].compactMap { $0 } + changes
    warnings =
      database.report.warnings + database.lost.map(\.text.onOneLine) + suggested.warnings
    unconfirmed = suggested.mapping.unconfirmed
  }

  private static func suggestedImport(
    of database: SourceDatabase, name: String, _ inheritance: ImportInheritance?,
    _ model: ManagedObjectModel?, besides taken: Set<String>
  ) throws -> SuggestedImport {
    var suggested: SuggestedImport
    if CoreDataFile.isOne(database.tables) {
      suggested = try CoreDataSuggestion.suggestedImport(
        of: database, named: name, inheritance: inheritance ?? .separate, model: model)
    } else if model == nil {
      suggested = try PlainInspection.suggestedImport(of: database, name: name)
    } else {
      throw ImportError(
        .mapping, "the file is no store of Core Data, so that it has no model",
        [("file", database.report.source)], advice: "leave out --model")
    }
    suggested.mapping = try OrphanSearch.marking(suggested.mapping, in: database)
    suggested.avoid(taken)
    return suggested
  }
}

extension WriteAheadLog {
  fileprivate var note: String {
    "the -wal was read with the file: \(frames) frames, \(validFrames) of them valid, "
      + "\(committedFrames) committed"
  }
}
