public import EntityModel
import TextFormats

extension ReadTransaction {
  /// Returns the fetch request of a template, with its variables.
  ///
  /// - Throws: `unknownTemplate`; the message lists the existing ones.
  public func fetchRequestTemplate(named name: String) throws -> FetchRequest {
    if let template = schema.templates.first(where: { $0.name == name }) {
      return template.request
    }
    throw StoreError.unknownTemplate(name, in: schema)
  }

  /// Returns the fetch request of a template with values in place of its variables.
  ///
  /// - Parameter variables: The values by variable name without `$`; names that the template does
  ///   not use are ignored.
  /// - Throws: `unknownTemplate`; `invalidRequest`, naming a variable that has no value.
  public func fetchRequest(
    fromTemplate name: String, substitutionVariables variables: [String: any PredicateArgument]
  ) throws -> FetchRequest {
    var request = try fetchRequestTemplate(named: name)
    do {
      request.predicate = try request.predicate?.substituting(variables)
    } catch {
      throw StoreError(
        .invalidRequest, "a template's variable cannot be replaced",
        [("template", name), ("variable", "$" + error.variable), ("problem", error.message)])
    }
    return request
  }
}

extension Store {
  /// Returns the fetch request of a template, with its variables.
  ///
  /// Templates are created and deleted by migrations only.
  ///
  /// - Throws: `unknownTemplate`; the message lists the existing ones.
  public func fetchRequestTemplate(named name: String) throws -> FetchRequest {
    try read { try $0.fetchRequestTemplate(named: name) }
  }

  /// Returns the fetch request of a template with values in place of its variables.
  ///
  /// - Throws: `unknownTemplate`; `invalidRequest`, naming a variable that has no value.
  public func fetchRequest(
    fromTemplate name: String, substitutionVariables variables: [String: any PredicateArgument]
  ) throws -> FetchRequest {
    try read { try $0.fetchRequest(fromTemplate: name, substitutionVariables: variables) }
  }
}

extension StoreError {
  package static func unknownTemplate(_ name: String, in schema: Schema) -> StoreError {
    let names = schema.templates.map(\.name).sorted()
    return StoreError(
      .unknownTemplate, "no such request template", [("template", name)],
      advice: names.isEmpty
        ? "the store has none"
        : NearestName.advice(
          on: name, among: names, otherwise: "the store has " + names.joined(separator: ", ")))
  }
}
