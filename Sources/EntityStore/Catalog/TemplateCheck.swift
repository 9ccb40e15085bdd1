package import EntityModel

/// Checks the names that a template or a migration uses against the schema. Values are not checked:
/// those of the variables are known only when the template is used.
package struct TemplateCheck {
  /// The first mismatch, described in one line.
  package struct Problem: Error {
    package let text: String
  }

  private let schema: Schema

  package static func check(_ request: FetchRequest, in schema: Schema) throws(Problem) {
    let check = TemplateCheck(schema: schema)
    guard let entity = schema.entity(named: request.entityName) else {
      throw Problem(text: "there is no entity \(request.entityName)")
    }
    if let predicate = request.predicate { try check.check(predicate, entity) }
    for key in request.sortBy {
      guard case .attribute = try check.end(of: key.path, entity) else {
        throw Problem(text: "\(key.path) is no attribute to sort by")
      }
    }
  }

  package static func check(
    _ predicate: FetchPredicate, of entity: EntityDescription, in schema: Schema
  ) throws(Problem) {
    try TemplateCheck(schema: schema).check(predicate, entity)
  }

  package static func check(
    _ expression: FetchExpression, of entity: EntityDescription, in schema: Schema
  ) throws(Problem) {
    try TemplateCheck(schema: schema).check(expression, entity)
  }

  private func check(
    _ predicate: FetchPredicate, _ entity: EntityDescription
  ) throws(Problem) {
    switch predicate {
    case .always: return
    case .comparison(let comparison):
      try check(comparison.left, entity)
      try check(comparison.right, entity)
    case .exists(let path, let part):
      guard case .records(let destination) = try end(of: path, entity) else {
        throw Problem(text: "\(path) is no relationship")
      }
      try check(part, destination)
    case .and, .or, .not: for part in predicate.parts { try check(part, entity) }
    }
  }

  private func check(
    _ expression: FetchExpression, _ entity: EntityDescription
  ) throws(Problem) {
    switch expression {
    case .path(let path): _ = try end(of: path, entity)
    case .collection(let path, _, let rest):
      let end = try end(of: path, entity)
      guard let rest else { return }
      guard case .records(let destination) = end else {
        throw Problem(text: "\(path) is no relationship")
      }
      _ = try self.end(of: rest, destination)
    default: for part in expression.parts { try check(part, entity) }
    }
  }

  private enum End {
    case attribute
    case records(EntityDescription)
  }

  /// Follows a path and returns its end: an attribute, or the record or records that a relationship
  /// leads to.
  private func end(of path: String, _ entity: EntityDescription) throws(Problem) -> End {
    var entity = entity
    let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    for (number, name) in names.enumerated() {
      if let relationship = entity.relationship(named: name) {
        guard let destination = schema.entity(named: relationship.destination) else {
          throw Problem(text: "there is no entity \(relationship.destination)")
        }
        entity = destination
        continue
      }
      guard entity.attribute(named: name) != nil, number == names.count - 1 else {
        throw Problem(text: "\(entity.name) has no \(name) (in \(path))")
      }
      return .attribute
    }
    return .records(entity)
  }
}
