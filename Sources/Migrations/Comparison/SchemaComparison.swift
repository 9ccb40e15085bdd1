public import EntityModel

/// The steps that turn one schema into another, and descriptions of the differences that they
/// close.
///
/// Schemas are compared by name. Ids, layouts, generations of indexes and versions of collations
/// are ignored. System entities are left out, because the program itself creates them.
///
/// A rename looks the same as a drop and a creation. Where a rename may be meant, `differences`
/// states it.
public struct SchemaComparison: Sendable {
  /// The differences, one line each, grouped by entity. Empty if there are none.
  public internal(set) var differences: [String] = []
  /// The steps, in an order in which they can be applied. The records may still refuse them: an
  /// attribute that becomes required has no `backfill`, and a conversion is the default one between
  /// the two types.
  public internal(set) var steps: [MigrationStep] = []

  public init(from old: Schema, to new: Schema) {
    var entities = EntityComparison(from: old, to: new)
    entities.run()
    differences = entities.differences
    let templates = TemplateComparison(from: old, to: new, around: entities.steps)
    differences += templates.differences
    steps = templates.drops + entities.steps + templates.creations
    if old.historyRetention != new.historyRetention {
      differences.append("the history is retained otherwise")
      steps.append(.retainHistory(new.historyRetention))
    }
  }

  init() {}
}
