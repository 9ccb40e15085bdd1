import EntityStore
import Migrations

/// The migration that goes with a suggested import.
package enum SuggestedMigration {
  /// The text of the file. Its line bears the name of the import.
  package static func text(of suggestion: SuggestedImport) -> String {
    MigrationText.yaml(
      of: suggestion.steps, line: suggestion.mapping.name,
      summary: "What \(suggestion.mapping.name) is imported to")
  }
}
