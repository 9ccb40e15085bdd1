import EntityModel
import EntityStore
import StrictYAML

/// Reads the arguments of `createIndex`, `changeIndex` and `dropIndex`.
extension MigrationFile {
  func createIndex(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try arguments.required("on").string()
    return .createIndex(entity: entity, try index(&arguments))
  }

  func changeIndex(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try entity(&arguments)
    return .changeIndex(entity: entity, try index(&arguments))
  }

  func dropIndex(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let entity = try arguments.required("on").string()
    return .dropIndex(entity: entity, name: try arguments.required("name").string())
  }

  private func index(_ arguments: inout YAMLMapping) throws -> IndexDefinition {
    let name = try identifier(try arguments.required("name"))
    let keys = try arguments.required("keys").sequence().map(key)
    guard !keys.isEmpty, keys.count <= IndexLayout.keyPartsMax else {
      throw arguments.error("an index has 1 to \(IndexLayout.keyPartsMax) keys")
    }
    let isUnique = try arguments.optional("unique")?.bool() ?? false
    let isSparse = try arguments.optional("sparse")?.bool() ?? false
    var index = IndexDefinition(name: name, keys: keys, isUnique: isUnique, isSparse: isSparse)
    if let node = arguments.optional("onViolation") {
      index.onViolation = try node.choice("onViolation")
      guard isUnique else { throw node.error("onViolation is for an index with unique: true") }
    }
    return index
  }

  /// Reads a key of an index: `attribute [COLLATION] [asc|desc]`.
  private func key(_ node: YAMLNode) throws -> IndexDefinition.Key {
    var words = try node.string().split(separator: " ")[...]
    let name = words.popFirst()
    var collation = Collation.binary
    if let found = words.first.flatMap({ Collation(text: String($0)) }) {
      collation = found
      words.removeFirst()
    }
    let direction = words.popFirst() ?? "asc"
    guard let name, words.isEmpty, ["asc", "desc"].contains(direction) else {
      throw node.error(
        "write a key as `attribute`, `attribute desc` or with a collation before desc: localized, "
          + "localized(zh), caseInsensitive")
    }
    do throws(StoreError) {
      _ = try KeyCollation.of(collation)
    } catch {
      throw node.error("\(error)")
    }
    return IndexDefinition.Key(
      attribute: String(name), isDescending: direction == "desc", collation: collation)
  }
}
