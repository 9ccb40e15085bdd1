import EntityModel
import EntityStore

/// Checks that the `down` steps of a migration lead back to the schema where it began. A migration
/// without `down` steps cannot be undone, which is no finding.
struct LintDown {
  let migration: Migration
  let before: Schema
  let after: Schema

  var findings: [LintFinding] {
    if migration.down.isEmpty { return [] }
    var change = SchemaChange(schema: after)
    for (index, step) in migration.down.enumerated() {
      do throws(StoreError) {
        try change.apply(step)
      } catch {
        return [
          LintFinding(
            .misfitDown, .warning, of: migration, step: index + 1,
            "undoing it fails: \(step): \(error.finding)",
            advice: error.advice ?? "write the down steps in the opposite order of the steps")
        ]
      }
    }
    let differences = SchemaComparison(from: before, to: change.schema).differences
    guard let first = differences.first else { return [] }
    let more = differences.count > 1 ? ", and \(differences.count - 1) more" : ""
    return [
      LintFinding(
        .differentDown, .warning, of: migration,
        "its down steps do not lead back to the schema before: \(first)\(more)",
        advice: "correct the down steps, or leave them out")
    ]
  }
}
