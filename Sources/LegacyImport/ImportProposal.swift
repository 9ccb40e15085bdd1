import EntityStore

/// What becomes of entities of a Core Data store that inherit from others.
public enum ImportInheritance: String, Hashable, Sendable, CaseIterable {
  /// One entity for each that is not abstract.
  case separate
  /// One entity for each family, with an attribute that says which of it a record is.
  case merged
}

/// What an inspection proposes, as files that a person edits.
public struct ImportProposal: Sendable {
  public let name: String
  /// `coreData` or `plain`.
  public let dialect: String
  /// The mapping file.
  public let mapping: String
  /// The migration that makes what the mapping maps to.
  public let migration: String
  /// The entities with the tables that they come from and their rows, in the order of the mapping.
  public let entities: [(entity: String, table: String, rows: Int64?)]
  /// Facts about the file that are normal and good to know, each on one line.
  public let notes: [String]
  /// What may have cost rows, or will, each on one line.
  public let warnings: [String]
  /// Guesses that must be confirmed before a run, as `Entity.property: why`.
  public let unconfirmed: [String]

  init(_ database: SourceDatabase, name: String, _ inheritance: ImportInheritance?) throws {
    let suggested = try SuggestedImport.of(database, name: name, inheritance)
    self.name = name
    dialect = suggested.mapping.dialect.rawValue
    mapping = MappingFile.text(of: suggested.mapping)
    migration = SuggestedMigration.text(of: suggested)
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
}

extension WriteAheadLogReport {
  fileprivate var note: String {
    "the -wal was read with the file: \(frames) frames, \(validFrames) of them valid, "
      + "\(committedFrames) committed"
  }
}
