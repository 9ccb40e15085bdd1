import EntityModel
import StrictYAML

/// Reads the arguments of `createTemplate` and `dropTemplate`.
extension MigrationFile {
  func createTemplate(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let name = try identifier(try arguments.required("name"), allowsUnderscore: false)
    var request = FetchRequest(entityName: try arguments.required("entity").string())
    if let node = arguments.optional("where") {
      do {
        request.predicate = try FetchPredicate(format: try node.string())
      } catch let error as PredicateFormatError {
        throw node.error("\(error)")
      }
    }
    request.sortBy = try arguments.optional("sortBy")?.sequence().map(sortKey) ?? []
    request.fetchLimit = try arguments.optional("limit").map(count) ?? 0
    request.fetchOffset = try arguments.optional("offset").map(count) ?? 0
    return .createTemplate(RequestTemplate(name: name, request: request))
  }

  private func sortKey(_ node: YAMLNode) throws -> SortKey {
    guard let key = SortKey(text: try node.string()) else {
      throw node.error(
        "write a key as `attribute`, `attribute desc`, `attribute localized` or "
          + "`attribute localized(de) desc`")
    }
    return key
  }

  private func count(_ node: YAMLNode) throws -> Int {
    guard let count = Int(exactly: try node.int()), count >= 0 else {
      throw node.error("this is from 0 on")
    }
    return count
  }
}
