import EntityModel

/// Renames an entity in a request: in the request itself, and in the object references of its
/// predicates and expressions.
extension FetchRequest {
  mutating func renameEntity(_ name: String, to newName: String) {
    if entityName == name { entityName = newName }
    predicate?.renameEntity(name, to: newName)
    havingPredicate?.renameEntity(name, to: newName)
    for position in propertiesToFetch.indices {
      propertiesToFetch[position].expression.renameEntity(name, to: newName)
    }
  }
}

extension FetchPredicate {
  fileprivate mutating func renameEntity(_ name: String, to newName: String) {
    func renamed(_ part: FetchPredicate) -> FetchPredicate {
      var part = part
      part.renameEntity(name, to: newName)
      return part
    }
    switch self {
    case .always: break
    case .comparison(var comparison):
      comparison.left.renameEntity(name, to: newName)
      comparison.right.renameEntity(name, to: newName)
      self = .comparison(comparison)
    case .exists(let path, let part): self = .exists(path, renamed(part))
    case .and(let parts): self = .and(parts.map(renamed))
    case .or(let parts): self = .or(parts.map(renamed))
    case .not(let part): self = .not(renamed(part))
    }
  }
}

extension FetchExpression {
  fileprivate mutating func renameEntity(_ name: String, to newName: String) {
    func renamed(_ part: FetchExpression) -> FetchExpression {
      var part = part
      part.renameEntity(name, to: newName)
      return part
    }
    switch self {
    case .object(let id) where id.entity == name:
      self = .object(ObjectID(entity: newName, number: id.number))
    case .list(let parts): self = .list(parts.map(renamed))
    case .aggregate(let function, let part): self = .aggregate(function, part.map(renamed))
    case .arithmetic(let sign, let left, let right):
      self = .arithmetic(sign, renamed(left), renamed(right))
    case .negative(let part): self = .negative(renamed(part))
    case .value, .object, .path, .itself, .variable, .collection: break
    }
  }
}
