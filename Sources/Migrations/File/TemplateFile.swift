import EntityModel
import StrictYAML

/// Reads the arguments of `createTemplate` and `dropTemplate`.
extension MigrationFile {
  func createTemplate(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let name = try identifier(try arguments.required("name"))
    var request = FetchRequest(entityName: try arguments.required("entity").string())
    request.predicate = try arguments.optional("where").map(predicateWithVariables)
    request.sortBy = try arguments.optional("sortBy")?.sequence().map(sortKey) ?? []
    request.fetchLimit = try arguments.optional("limit").map(count)?.unlessZero
    request.fetchOffset = try arguments.optional("offset").map(count) ?? 0
    return .createTemplate(RequestTemplate(name: name, request: request))
  }

  func dropTemplate(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    .dropTemplate(name: try arguments.required("name").string())
  }

  private func sortKey(_ node: YAMLNode) throws -> SortKey {
    guard let key = SortKey(text: try node.string()) else {
      throw node.error(
        "write a key as `attribute`, `attribute desc`, `attribute localized` or "
          + "`attribute localized(de) desc`")
    }
    return key
  }
}
