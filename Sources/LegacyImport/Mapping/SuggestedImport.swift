package import EntityStore
package import Migrations

/// What an inspection proposes: a mapping, and the migration that makes what it maps to.
package struct SuggestedImport: Sendable {
  package var mapping: ImportMapping
  package var steps: [MigrationStep]
  /// What a person should know before going on, each on one line.
  package var warnings: [String]

  package init(mapping: ImportMapping, steps: [MigrationStep], warnings: [String]) {
    self.mapping = mapping
    self.steps = steps
    self.warnings = warnings
  }
}
