public import EntityModel

/// What makes one schema of another: the steps, and in words the differences that they close.
///
/// Schemas are compared by name: ids, layouts, generations of indexes and versions of collations do
/// not count, and system entities are left out, for the program brings them.
///
/// A rename cannot be told from a drop and a creation. Where it may be meant, `differences` says
/// so.
public struct SchemaComparison: Sendable {
  /// One line each, those of an entity together; empty if there are none.
  public internal(set) var differences: [String] = []
  /// In an order in which they fit. They may be refused by records: an attribute that becomes
  /// required has no `backfill`, and a conversion is what the two types say by themselves.
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
