import EntityModel

extension SQLQuery {
  mutating func expression(
    _ expression: FetchExpression, _ scope: inout SQLScope
  ) throws -> String {
    switch expression {
    case .value(let value): return argument(value)
    case .object(let id): return argument(.int64(id.number))
    case .itself: return "\(scope.alias).id"
    case .path(let path): return try scope.names[path] ?? self.path(path, &scope)
    case .aggregate(let function, let part):
      let inner = try part.map { try self.expression($0, &scope) }
      switch function {
      case .count: return "count(\(inner ?? "*"))"
      case .countDistinct: return "count(DISTINCT \(inner ?? "1"))"
      case .average: return "avg(\(inner ?? "1"))"
      case .sum, .minimum, .maximum: return "\(function.rawValue)(\(inner ?? "1"))"
      }
    case .arithmetic(let sign, let left, let right):
      let (a, b) = (try self.expression(left, &scope), try self.expression(right, &scope))
      if sign == .power { return "pow(\(a), \(b))" }
      return "(\(a) \(sign.rawValue) \(b))"
    case .negative(let part): return "(-\(try self.expression(part, &scope)))"
    case .list, .collection, .variable: throw NaiveError.meaningless("\(expression) in SQL")
    }
  }

  /// A to-one path: tables are joined so that a missing record reads as null.
  mutating func path(_ path: String, _ scope: inout SQLScope) throws -> String {
    var (alias, entity) = (scope.alias, scope.entity)
    var prefix = ""
    for part in path.split(separator: ".").map(String.init) {
      guard let relationship = entity.relationship(part) else {
        return "\(alias).\"\(part)\""
      }
      prefix += (prefix.isEmpty ? "" : ".") + part
      if let known = scope.joined[prefix] {
        (alias, entity) = known
        continue
      }
      let next = self.alias()
      let condition = try link(relationship, of: entity.name, from: alias, to: next)
      scope.source += " LEFT JOIN \"\(relationship.destination)\" AS \(next) ON \(condition)"
      (alias, entity) = (next, try self.entity(relationship.destination))
      scope.joined[prefix] = (alias, entity)
    }
    return "\(alias).id"
  }
}
