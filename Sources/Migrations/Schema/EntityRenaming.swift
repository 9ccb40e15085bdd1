import EntityModel

/// Renames an entity in a request: in the request itself, and in the object references of its
/// predicates and expressions.
extension FetchRequest {
  mutating func renameEntity(_ name: String, to newName: String) {
    if entityName == name { entityName = newName }
    predicate = predicate?.mapLeaves { $0.renamingEntity(name, to: newName) }
    havingPredicate = havingPredicate?.mapLeaves { $0.renamingEntity(name, to: newName) }
    for position in propertiesToFetch.indices {
      let expression = propertiesToFetch[position].expression
      propertiesToFetch[position].expression = expression.mapLeaves {
        $0.renamingEntity(name, to: newName)
      }
    }
  }
}

extension FetchExpression {
  /// Returns the expression, with the new name if it is a record of the entity.
  fileprivate func renamingEntity(_ name: String, to newName: String) -> FetchExpression {
    guard case .object(let id) = self, id.entity == name else { return self }
    return .object(ObjectID(entity: newName, number: id.number))
  }
}
