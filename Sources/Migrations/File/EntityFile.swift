import EntityModel
import StrictYAML

/// Reads the arguments of `createEntity`, `renameEntity` and `dropEntity`.
extension MigrationFile {
  func createEntity(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let name = try entityName(try arguments.required("name"))
    var attributes: [AttributeDescription] = []
    for node in try arguments.required("attributes").sequence() {
      var mapping = try node.mapping()
      let attribute = try attribute(&mapping)
      try mapping.finish()
      if attributes.contains(where: { $0.name == attribute.name }) {
        throw node.error("\(name) has two attributes named \(attribute.name)")
      }
      attributes.append(attribute)
    }
    let keepsHistory = try arguments.optional("history")?.bool() ?? true
    return .createEntity(name: name, attributes: attributes, keepsHistory: keepsHistory)
  }

  func renameEntity(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    let name = try entity(&arguments, "name")
    return .renameEntity(name: name, newName: try entityName(try arguments.required("to")))
  }

  func dropEntity(_ arguments: inout YAMLMapping) throws -> MigrationStep {
    .dropEntity(name: try entity(&arguments, "name"))
  }
}
