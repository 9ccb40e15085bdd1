import EntityModel
import SchemaFiles
import StrictYAML

/// Changes of a migration file that was not applied yet. All other text stays as it is.
package enum MigrationEdits {
  /// Makes the changes whose subjects the file creates.
  ///
  /// - Returns: The text of the file, and the changes that belong in another file.
  /// - Throws: `YAMLError` for a file that is no migration.
  package static func text(
    of text: String, file: String, after changes: [ReadingChange]
  ) throws -> (text: String, left: [ReadingChange]) {
    var left = changes
    func take(_ change: ReadingChange) -> Bool {
      guard let place = left.firstIndex(of: change) else { return false }
      left.remove(at: place)
      return true
    }
    // One kind after the other, because a step may lie in the brackets of a list.
    var text = try YAMLEdits.text(of: text, file: file) { root, edits in
      for step in try root.steps() {
        for attribute in try step.attributes() {
          guard let type = changes.newType(of: attribute.name, in: step.entity) else { continue }
          try edits.change(
            attribute.node, removing: { _ in false },
            replacing: { $0 == "type" ? .scalar(type.name) : nil })
          _ = take(.retype(entity: step.entity, attribute: attribute.name, type))
        }
        if step.verb == "createRelationship",
          let destination = changes.newDestination(of: step.name, in: step.entity)
        {
          try edits.change(
            step.node, removing: { _ in false },
            replacing: { $0 == "to" ? .text(destination) : nil })
          _ = take(
            .retarget(entity: step.entity, relationship: step.name, destination: destination))
        }
      }
    }
    text = try YAMLEdits.text(of: text, file: file) { root, edits in
      for step in try root.steps() where step.verb == "createEntity" {
        var keys = try step.node.mapping()
        guard let list = keys.optional("attributes") else { continue }
        try edits.remove(list) { attribute in
          guard let name = attribute.name else { return false }
          return take(.dropAttribute(entity: step.entity, attribute: name))
        }
      }
    }
    text = try YAMLEdits.text(of: text, file: file) { root, edits in
      var keys = try root.mapping()
      try edits.remove(try keys.required("steps")) { node in
        guard let step = try? Step(node) else { return false }
        return switch step.verb {
        case "createRelationship":
          take(.dropRelationship(entity: step.entity, relationship: step.name))
        case "addAttribute": take(.dropAttribute(entity: step.entity, attribute: step.name))
        default: false
        }
      }
    }
    return (text, left)
  }
}

/// The parts of a step that a choice may change.
private struct Step {
  let verb: String
  /// The arguments.
  let node: YAMLNode
  /// The entity that the step creates or changes.
  let entity: String
  let name: String

  /// - Returns: `nil` for a step of another kind.
  init?(_ step: YAMLNode) throws {
    var verbs = try step.mapping()
    guard let verb = verbs.keys.first?.key,
      ["createEntity", "createRelationship", "addAttribute"].contains(verb)
    else { return nil }
    self.verb = verb
    node = try verbs.required(verb)
    var keys = try node.mapping()
    name = try keys.required("name").string()
    entity =
      verb == "createEntity"
      ? name : try keys.required(verb == "addAttribute" ? "to" : "on").string()
  }

  func attributes() throws -> [(name: String, node: YAMLNode)] {
    if verb == "addAttribute" { return [(name, node)] }
    guard verb == "createEntity" else { return [] }
    var keys = try node.mapping()
    return try keys.optional("attributes")?.sequence().compactMap { node in
      node.name.map { ($0, node) }
    } ?? []
  }
}

extension YAMLNode {
  fileprivate func steps() throws -> [Step] {
    var keys = try mapping()
    return try keys.required("steps").sequence().compactMap { try Step($0) }
  }

  fileprivate var name: String? {
    guard case .mapping(let entries) = content,
      case .scalar(let name, _)? = entries.first(where: { $0.key == "name" })?.value.content
    else { return nil }
    return name
  }
}

extension [ReadingChange] {
  fileprivate func newType(of name: String, in owner: String) -> AttributeType? {
    for case .retype(let entity, let attribute, let type) in self
    where entity == owner && attribute == name { return type }
    return nil
  }

  fileprivate func newDestination(of name: String, in owner: String) -> String? {
    for case .retarget(let entity, let relationship, let destination) in self
    where entity == owner && relationship == name { return destination }
    return nil
  }
}
