import EntityModel
import EntityStore

/// The templates that come and go, and those that other steps would break: these are dropped
/// before, and made again afterward.
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

  /// The names of those that do not fit the schema after one of the steps.
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
      // What comes after is not known: to make all of them again is right in any case.
      return Set(templates.map(\.name))
    }
  }

  private static func fits(_ template: RequestTemplate, _ schema: Schema) -> Bool {
    do throws(TemplateCheck.Problem) {
      try TemplateCheck.check(template.request, in: schema)
      return true
    } catch {
      return false
    }
  }
}
