import EntityModel
import EntityStore

/// Compares the templates. A template that other steps would break is dropped before them and
/// created again afterward.
struct TemplateComparison {
  private(set) var differences: [String] = []
  private(set) var drops: [MigrationStep] = []
  private(set) var creations: [MigrationStep] = []

  init(from old: Schema, to new: Schema, around steps: [MigrationStep]) {
    var kept: [RequestTemplate] = []
    for template in old.templates {
      switch new.templates.first(where: { $0.name == template.name }) {
      case nil: differences.append("template \(template.name) is dropped")
      case template: kept.append(template)
      default: differences.append("template \(template.name) is another request")
      }
      if kept.last != template { drops.append(.dropTemplate(name: template.name)) }
    }
    for template in new.templates where !kept.contains(template) {
      if !old.templates.contains(where: { $0.name == template.name }) {
        differences.append("template \(template.name) of \(template.request.entityName) is added")
      }
      creations.append(.createTemplate(template))
    }
    let broken = Self.broken(kept, by: steps, of: old)
    for template in kept where broken.contains(template.name) {
      drops.append(.dropTemplate(name: template.name))
      creations.append(.createTemplate(template))
    }
  }

  /// Returns the names of the templates that do not fit the schema after at least one of the steps.
  private static func broken(
    _ templates: [RequestTemplate], by steps: [MigrationStep], of schema: Schema
  ) -> Set<String> {
    if templates.isEmpty { return [] }
    var broken: Set<String> = []
    var change = SchemaChange(schema: schema)
    change.schema.templates = []
    do throws(StoreError) {
      for step in steps {
        try change.apply(step)
        broken.formUnion(templates.filter { !fits($0, change.schema) }.map(\.name))
      }
      return broken
    } catch {
      // The schema after the failed step is not known. Creating all templates again is always
      // correct.
      return Set(templates.map(\.name))
    }
  }

  private static func fits(_ template: RequestTemplate, _ schema: Schema) -> Bool {
    (try? TemplateCheck.check(template.request, in: schema)) != nil
  }
}
