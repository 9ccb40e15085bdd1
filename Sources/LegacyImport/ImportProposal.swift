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

  /// - Parameter taken: The names that no entity of the proposal gets.
  init(
    _ database: SourceDatabase, name: String, _ inheritance: ImportInheritance?,
    besides taken: Set<String>
  ) throws {
    var suggested =
      CoreDataFile.isOne(database.tables)
      ? try CoreDataSuggestion.suggestedImport(
        of: database, named: name, inheritance: inheritance ?? .separate)
      : try PlainInspection.suggestedImport(of: database, name: name)
    suggested.avoid(taken)
    self.name = name
    dialect = suggested.mapping.dialect.rawValue
    mapping = MappingFile.text(of: suggested.mapping)
    migration = suggested.migrationText
    // A damaged table has no count.
    entities = suggested.mapping.entities.map { entity in
      (
        entity.entity, entity.table,
        database.table(entity.table).flatMap { try? database.count($0) }
      )
    }
    notes = database.report.notes + [database.report.writeAheadLog?.note].compactMap { $0 }
    warnings =
      database.report.warnings + database.lost.map(\.text.onOneLine) + suggested.warnings
    unconfirmed = suggested.mapping.unconfirmed
  }
}

extension WriteAheadLog {
  fileprivate var note: String {
    "the -wal was read with the file: \(frames) frames, \(validFrames) of them valid, "
      + "\(committedFrames) committed"
  }
}
