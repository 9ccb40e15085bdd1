import EntityModel

extension SQLQuery {
  mutating func predicate(_ predicate: FetchPredicate, _ scope: inout SQLScope) throws -> String {
    switch predicate {
    case .always(let value): return value ? "1" : "0"
    case .comparison(let comparison): return try self.comparison(comparison, &scope)
    case .exists(let path, let part):
      return try exists(path, &scope) { query, inner in try query.predicate(part, &inner) }
    case .not(let part): return "(NOT \(try self.predicate(part, &scope)))"
    case .and(let parts): return try joined(parts, "AND", "1", &scope)
    case .or(let parts): return try joined(parts, "OR", "0", &scope)
    }
  }

  private mutating func joined(
    _ parts: [FetchPredicate], _ word: String, _ empty: String, _ scope: inout SQLScope
  ) throws -> String {
    if parts.isEmpty { return empty }
    var texts: [String] = []
    for part in parts { texts.append(try predicate(part, &scope)) }
    return "(" + texts.joined(separator: " \(word) ") + ")"
  }

  private mutating func comparison(
    _ whole: FetchPredicate.Comparison, _ scope: inout SQLScope
  ) throws -> String {
    if let quantifier = whole.quantifier {
      return try quantified(whole, quantifier, &scope)
    }
    let kind = try self.type(of: whole.left, scope) ?? self.type(of: whole.right, scope)
    let comparison = whole.comparison
    if comparison == .equal || comparison == .notEqual,
      let tested = whole.right == .value(.null)
        ? whole.left : whole.left == .value(.null) ? whole.right : nil
    {
      let text = try side(tested, kind, &scope)
      return "(\(text) \(comparison == .equal ? "IS NULL" : "IS NOT NULL"))"
    }
    let left = try side(whole.left, kind, &scope)
    if case .list(let parts) = whole.right {
      var texts: [String] = []
      for part in parts { texts.append(try side(part, kind, &scope)) }
      switch comparison {
      case .isIn: return "(\(left) IN (\(texts.joined(separator: ", "))))"
      case .between where texts.count == 2:
        return "(\(left) BETWEEN \(texts[0]) AND \(texts[1]))"
      default: throw NaiveError.meaningless("a list")
      }
    }
    let right = try side(whole.right, comparison.isOfText ? nil : kind, &scope)
    switch comparison {
    case .beginsWith, .contains, .endsWith: return Self.text(left, comparison, right)
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
      return "(\(left) \(comparison.rawValue) \(right))"
    default: throw NaiveError.meaningless("\(comparison.rawValue) in SQL")
    }
  }

  /// Casts to blobs, since text functions stop at NUL. `substr` gets no part of an empty value.
  private static func text(
    _ left: String, _ comparison: ComparisonOperator, _ right: String
  ) -> String {
    let (whole, part) = ("CAST(\(left) AS BLOB)", "CAST(\(right) AS BLOB)")
    let test =
      switch comparison {
      case .beginsWith: "substr(\(whole), 1, length(\(part))) = \(part)"
      case .endsWith: "substr(\(whole), -length(\(part))) = \(part)"
      default: "instr(\(whole), \(part)) > 0"
      }
    return "(CASE WHEN \(left) IS NULL OR \(right) IS NULL THEN NULL"
      + " WHEN length(\(part)) = 0 THEN 1 WHEN length(\(whole)) < length(\(part)) THEN 0"
      + " ELSE \(test) END)"
  }

  /// A constant is bound in the kind of the other side.
  private mutating func side(
    _ expression: FetchExpression, _ type: AttributeType?, _ scope: inout SQLScope
  ) throws -> String {
    if case .value(let value) = expression, let type { return argument(try value.taking(type)) }
    return try self.expression(expression, &scope)
  }

  private func type(of expression: FetchExpression, _ scope: SQLScope) throws -> AttributeType? {
    guard case .path(let path) = expression, scope.names[path] == nil else { return nil }
    var entity = scope.entity
    for part in path.split(separator: ".").map(String.init) {
      if let relationship = entity.relationship(part) {
        entity = try self.entity(relationship.destination)
      } else {
        return entity.attribute(part)?.type
      }
    }
    return nil
  }

  // MARK: To-many

  /// `ANY` is an `EXISTS`; `ALL` has no record where the comparison is not true.
  private mutating func quantified(
    _ whole: FetchPredicate.Comparison, _ quantifier: FetchPredicate.Quantifier,
    _ scope: inout SQLScope
  ) throws -> String {
    guard case .path(let path) = whole.left else { throw NaiveError.meaningless("ANY") }
    let (many, rest) = try split(path, scope.entity)
    var inner = whole
    inner.quantifier = nil
    inner.left = rest.isEmpty ? .itself : .path(rest)
    let found = try exists(many, &scope) { query, scope in
      let condition = try query.comparison(inner, &scope)
      return quantifier == .any ? condition : "(\(condition) IS NOT TRUE)"
    }
    return quantifier == .any ? found : "(NOT \(found))"
  }

  /// The part of a path up to its last to-many relationship, and the rest.
  private func split(_ path: String, _ entity: ModelEntity) throws -> (String, String) {
    var entity = entity
    var many = 0
    let parts = path.split(separator: ".").map(String.init)
    for (place, part) in parts.enumerated() {
      guard let relationship = entity.relationship(part) else { break }
      if relationship.isToMany { many = place + 1 }
      entity = try self.entity(relationship.destination)
    }
    return (parts[..<many].joined(separator: "."), parts[many...].joined(separator: "."))
  }

  private mutating func exists(
    _ path: String, _ scope: inout SQLScope,
    _ condition: (inout SQLQuery, inout SQLScope) throws -> String
  ) throws -> String {
    var (alias, entity) = (scope.alias, scope.entity)
    var source = ""
    var links: [String] = []
    for part in path.split(separator: ".").map(String.init) {
      guard let relationship = entity.relationship(part) else {
        throw NaiveError.meaningless("no relationship \(part)")
      }
      let next = self.alias()
      links.append(
        try link(relationship, of: entity.name, from: alias, to: next))
      source += (source.isEmpty ? "" : ", ") + "\"\(relationship.destination)\" AS \(next)"
      (alias, entity) = (next, try self.entity(relationship.destination))
    }
    var inner = SQLScope(entity: entity, alias: alias, source: source)
    let test = try condition(&self, &inner)
    return "EXISTS (SELECT 1 FROM \(inner.source) WHERE "
      + (links + [test]).joined(separator: " AND ") + ")"
  }

  /// Returns a condition that is true if a link leads from the record of one table to the other's.
  func link(
    _ relationship: ModelRelationship, of entity: String, from: String, to: String
  ) throws -> String {
    switch relationship.storage {
    case .reference: return "\(from).\(relationship.name) = \(to).id"
    case .key(let own, let other): return "\(from).\(own) = \(to).\(other)"
    case .firstOfLink:
      return "(\(from).id, \(to).id) IN \(Self.linkTable(entity, relationship.name))"
    case .secondOfLink(let name):
      return "(\(to).id, \(from).id) IN \(Self.linkTable(relationship.destination, name))"
    case .inverse(let name):
      guard let back = try self.entity(relationship.destination).relationship(name) else {
        throw NaiveError.meaningless("no inverse \(name)")
      }
      return try link(back, of: relationship.destination, from: to, to: from)
    }
  }
}
