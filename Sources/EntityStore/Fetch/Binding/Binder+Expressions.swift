package import EntityModel
import Foundation

extension Binder {
  /// Binds an expression.
  ///
  /// - Throws: `unknownAttribute`, `invalidRequest`.
  package func bind(_ expression: FetchExpression, depth: Int = 0) throws -> BoundExpression {
    guard depth < Binder.depthMax else {
      throw StoreError(.invalidRequest, "an expression is nested too deeply")
    }
    if case .columns(let columns) = scope, let column = columns.column(expression) {
      return column
    }
    switch expression {
    case .value(let value):
      return BoundExpression(
        program: .constant(value), kind: value.kind.map(ExpressionKind.value) ?? .null)
    case .object(let id):
      return BoundExpression(program: .constant(.int64(id.number)), kind: .object(id.entity))
    case .path(let path): return try bind(path: path)
    case .itself:
      return BoundExpression(program: .identity, kind: .object(try entity("SELF").name))
    case .variable(let name):
      throw StoreError(
        .invalidRequest, "a variable has no value", [("variable", "$" + name)],
        advice: "set it with substituting(_:)")
    case .collection(let path, let function, let rest):
      return try bind(collection: path, function, rest)
    case .arithmetic(let sign, let left, let right):
      return try arithmetic(
        sign, try bind(left, depth: depth + 1), try bind(right, depth: depth + 1), expression)
    case .negative(let part): return try negative(try bind(part, depth: depth + 1), expression)
    case .list:
      guard let texts = expression.texts else {
        throw StoreError(
          .invalidRequest, "a list is used where one value is expected",
          [("expression", expression.description)], advice: "use IN or BETWEEN")
      }
      return BoundExpression(program: .constant(.strings(texts)), kind: .value(.strings))
    case .aggregate:
      throw StoreError(
        .invalidRequest, "an aggregate is used in a condition on one record",
        [("expression", expression.description)],
        advice: "use it in the columns or in the having predicate of a request")
    }
  }

  func resolve(_ path: String) throws -> BoundPath {
    try BoundPath(path, of: try entity(path), in: transaction)
  }

  private func entity(_ path: String) throws -> EntityLayout {
    switch scope {
    case .entity(let entity): return entity
    case .columns(let columns): throw columns.unknown(path)
    }
  }

  private func bind(path text: String) throws -> BoundExpression {
    let path = try resolve(text)
    if let hop = path.allHops.first(where: { $0.relationship.isToMany }) {
      throw StoreError(
        .invalidRequest, "a path leads to many records",
        [("path", text), ("relationship", hop.relationship.description.name)],
        advice: "write ANY or ALL before it, or use an aggregate such as \(text).@count")
    }
    switch path.end {
    case .attribute(let position):
      let attribute = path.entity.description.attributes[position]
      return expression(
        path.hops, position, .value(attribute.type.kind), attribute: attribute)
    case .relationship(let hop):
      let kind = ExpressionKind.object(hop.destination.name)
      if case .attribute(let position, mayDangle: false) = hop.relationship.access {
        return expression(path.hops, position, kind, attribute: nil)
      }
      let link = ExpressionProgram.link(hop.relationship)
      return BoundExpression(
        program: path.hops.reversed().reduce(link) { .linked($1, $0) }, kind: kind)
    }
  }

  private func expression(
    _ hops: [Hop], _ position: Int, _ kind: ExpressionKind, attribute: AttributeDescription?
  ) -> BoundExpression {
    BoundExpression(
      program: hops.reversed().reduce(.attribute(position)) { .linked($1, $0) }, kind: kind,
      hops: hops, position: position, attribute: attribute)
  }

  // MARK: Aggregates

  private func bind(
    collection text: String, _ function: CollectionFunction, _ rest: String?
  ) throws -> BoundExpression {
    let path = try resolve(text)
    let whole = FetchExpression.collection(text, function, rest)
    if let list = path.listPosition {
      guard function == .count, rest == nil,
        !path.hops.contains(where: { $0.relationship.isToMany })
      else { throw noCollection(whole) }
      let count = ExpressionProgram.collection(
        CollectionProgram(function: .count, hops: [], part: nil, list: list, zero: .int64(0)))
      return BoundExpression(
        program: path.hops.reversed().reduce(count) { .linked($1, $0) }, kind: .value(.int64))
    }
    guard case .relationship(let hop) = path.end, (rest == nil) == (function == .count) else {
      throw noCollection(whole)
    }
    let inner = Binder(.entity(hop.destination), in: transaction)
    let part = try rest.map { try inner.bind(.path($0)) }
    let kind = try kind(of: function.aggregate, part?.kind, whole)
    let program = CollectionProgram(
      function: function, hops: path.allHops, part: part?.program, list: nil,
      zero: kind == .value(.double) ? .double(0) : kind == .value(.decimal) ? .decimal(0) : 0)
    return BoundExpression(program: .collection(program), kind: kind)
  }

  /// Returns the kind of an aggregate's result.
  ///
  /// - Throws: `invalidRequest` for a sum or an average of values that are not numbers.
  func kind(
    of function: AggregateFunction, _ part: ExpressionKind?, _ whole: FetchExpression
  ) throws -> ExpressionKind {
    switch function {
    case .count, .countDistinct: return .value(.int64)
    case .minimum, .maximum:
      guard let part else { throw noCollection(whole) }
      return part
    case .sum, .average:
      guard let part, part.isNumber else {
        throw StoreError(
          .invalidRequest, "only numbers have a sum and an average",
          [("expression", whole.description), ("type", part?.name ?? "none")])
      }
      if function == .sum { return part }
      return part == .value(.decimal) ? part : .value(.double)
    }
  }

  private func noCollection(_ whole: FetchExpression) -> StoreError {
    StoreError(
      .invalidRequest, "no such aggregate", [("expression", whole.description)],
      advice: "write relationship.@count or relationship.@sum.attribute; a list has only @count")
  }

  // MARK: Arithmetic

  private func arithmetic(
    _ sign: ArithmeticOperator, _ left: BoundExpression, _ right: BoundExpression,
    _ whole: FetchExpression
  ) throws -> BoundExpression {
    let kind = try kind(sign, left.kind, right.kind, whole)
    let program = ExpressionProgram.arithmetic(sign, left.program, right.program)
    guard left.constant != nil, right.constant != nil else {
      return BoundExpression(program: program, kind: kind)
    }
    return BoundExpression(
      program: .constant(try program.evaluate(.missing, in: transaction)), kind: kind)
  }

  private func kind(
    _ sign: ArithmeticOperator, _ left: ExpressionKind, _ right: ExpressionKind,
    _ whole: FetchExpression
  ) throws -> ExpressionKind {
    if left == .null || right == .null { return .null }
    let date = ExpressionKind.value(.date)
    if left == date, right == date, sign == .subtract { return .value(.double) }
    if left == date, right.isNumber, sign == .add || sign == .subtract { return date }
    if right == date, left.isNumber, sign == .add { return date }
    guard left.isNumber, right.isNumber else {
      throw StoreError(
        .invalidRequest, "arithmetic is for numbers, and for dates with seconds",
        [("expression", whole.description), ("left", left.name), ("right", right.name)])
    }
    let double = ExpressionKind.value(.double)
    if sign == .power || left == double || right == double { return double }
    return left == .value(.decimal) || right == .value(.decimal)
      ? .value(.decimal) : .value(.int64)
  }

  private func negative(
    _ part: BoundExpression, _ whole: FetchExpression
  ) throws -> BoundExpression {
    guard part.kind.isNumber || part.kind == .null else {
      throw StoreError(
        .invalidRequest, "arithmetic is for numbers, and for dates with seconds",
        [("expression", whole.description)])
    }
    if let constant = part.constant {
      return BoundExpression(program: .constant(try Arithmetic.negate(constant)), kind: part.kind)
    }
    return BoundExpression(program: .negative(part.program), kind: part.kind)
  }
}

extension FetchExpression {
  /// The texts of a list, if all its elements are constant texts; else `nil`.
  fileprivate var texts: [String]? {
    guard case .list(let parts) = self else { return nil }
    var texts: [String] = []
    for part in parts {
      guard case .value(.string(let text)) = part else { return nil }
      texts.append(text)
    }
    return texts
  }
}
