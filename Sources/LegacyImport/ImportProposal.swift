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

  /// - Throws: `mapping` for a model of a file that is none of Core Data's; what reading throws.
  init(
    _ database: SourceDatabase, name: String, _ inheritance: ImportInheritance?,
    model: ManagedObjectModel?
  ) throws {
    var suggested = try Self.suggestedImport(of: database, name: name, inheritance, model)
    suggested.mapping = try OrphanSearch.marking(suggested.mapping, in: database)
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
    warnings = database.report.warnings + suggested.warnings
    unconfirmed = suggested.mapping.unconfirmed
  }

  private static func suggestedImport(
    of database: SourceDatabase, name: String, _ inheritance: ImportInheritance?,
    _ model: ManagedObjectModel?
  ) throws -> SuggestedImport {
    if CoreDataFile.isOne(database.tables) {
      return try CoreDataSuggestion.suggestedImport(
        of: database, named: name, inheritance: inheritance ?? .separate, model: model)
    }
    guard model == nil else {
      throw ImportError(
        .mapping, "the file is no store of Core Data, so that it has no model",
        [("file", database.report.source)], advice: "leave out --model")
    }
    return try PlainInspection.suggestedImport(of: database, name: name)
  }
}

extension WriteAheadLog {
  fileprivate var note: String {
    "the -wal was read with the file: \(frames) frames, \(validFrames) of them valid, "
      + "\(committedFrames) committed"
  }
}
