extension SuggestedImport {
  /// What the file's own dialect makes of it.
  static func of(
    _ database: SourceDatabase, name: String, _ inheritance: ImportInheritance?
  ) throws -> SuggestedImport {
    if CoreDataFile.isOne(database.tables) {
      return try CoreDataSuggestion.suggestedImport(
        of: database, named: name, inheritance: inheritance ?? .separate)
    }
    return try PlainInspection.suggestedImport(of: database, name: name)
  }
}
