public import EntityModel
import EntityStore

extension Schema {
  /// The schema of a store that has had all migrations of these lines, and those of the line `system`.
  ///
  /// - Throws: `migration` for a step that does not fit, or a requirement that is not there.
  public init(of lines: [MigrationLine]) throws {
    let state = MigrationState(lines: try MigrationLine.load([.system]) + lines, history: [])
    try state.checkApplicable()
    var change = SchemaChange(schema: Schema())
    for migration in state.pending {
      try SchemaChange.naming(migration) { () throws(StoreError) in
        for step in migration.steps { try change.apply(step) }
      }
    }
    self = change.schema
  }
}
