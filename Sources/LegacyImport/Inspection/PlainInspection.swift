import EntityStore

/// Examines a SQLite file of which only the schema and the rows are known.
package enum PlainInspection {
  /// Returns a mapping of every table, and the steps that create its entities.
  ///
  /// Each table becomes an entity, and each column an attribute or, if it has the key of another
  /// row, a relationship. Types are those that lose nothing; where the values leave a choice that
  /// would lose or change something, the attribute is unconfirmed. In files of newsboat and
  /// gPodder, columns get names by their meaning.
  ///
  /// - Parameter name: Of the import, and of the line of its migrations.
  /// - Throws: `ImportError` if the file cannot be read; `CancellationError`.
  /// - Complexity: O(rows), up to 264,000 of each table.
  package static func suggestedImport(
    of database: SourceDatabase, name: String
  ) throws -> SuggestedImport {
    var mapping = ImportMapping(name: name, dialect: .plain)
    var warnings: [String] = []
    var tables: [SourceTable] = []
    for table in database.tables where table.kind == .virtual {
      mapping.skippedTables.insert(table.name)
    }
    for table in database.tables where table.isReadable {
      if let problem = problem(with: table, among: database.tables) {
        mapping.skippedTables.insert(table.name)
        warnings.append(problem)
      } else {
        tables.append(table)
      }
    }
    let preset = Preset.all.first { $0.fits(tables) }
    if let preset {
      mapping.evidence.append("the tables are those of \(preset.program)")
      for table in tables where preset.skippedTables.contains(table.name) {
        mapping.skippedTables.insert(table.name)
      }
      tables.removeAll { preset.skippedTables.contains($0.name) }
    }
    var guesses = try tables.map { TableGuess($0, try TableProfile(of: $0, in: database)) }
    for place in guesses.indices where guesses[place].table.kind == .content {
      guard let sql = guesses[place].table.definition?.sql else { continue }
      guesses[place].evidence.append("the texts of a full-text table: \(sql)")
    }
    let search = ReferenceSearch(database, guesses)
    for place in guesses.indices {
      guesses[place].references = try search.references(at: place)
      preset?.apply(to: &guesses[place])
    }
    mapping.evidence.insert(summary(of: guesses, database), at: 0)
    var suggestion = SuggestionAssembly.suggestion(of: guesses, into: mapping, warnings: warnings)
    suggestion.warnings +=
      MappingCheck(of: suggestion.mapping, against: database.tables).warnings
    return suggestion
  }

  /// Returns the reason why a table is left out, if it is.
  private static func problem(with table: SourceTable, among tables: [SourceTable]) -> String? {
    let name = ImportMapping.quoted(table.name)
    // The dialect of mapping files ends keys at 1,024 characters.
    let names = [table.name] + table.columns.map(\.name)
    if names.contains(where: { $0.unicodeScalars.count > 1_000 }) {
      return "the table \(name) is skipped: it has names over 1,000 characters"
    }
    // Two spellings of one accented letter are two names to SQLite, and one to a reader.
    if tables.filter({ $0.name == table.name }).count > 1
      || Set(table.columns.map(\.name)).count < table.columns.count
    {
      return "the table \(name) is skipped: it has names that are the same text in different bytes"
    }
    return nil
  }

  private static func summary(of guesses: [TableGuess], _ database: SourceDatabase) -> String {
    let rows = guesses.map(\.profile.total).reduce(0, +)
    let tables = guesses.count == 1 ? "1 table" : "\(guesses.count) tables"
    let views = database.tables.filter { $0.kind == .view }.count
    let virtual = database.tables.filter { $0.kind == .virtual }.count
    return "\(rows) rows in \(tables)"
      + (views > 0 ? "; views, which are not read: \(views)" : "")
      + (virtual > 0 ? "; virtual tables, which are not read: \(virtual)" : "")
  }
}
