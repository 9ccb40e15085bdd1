package import EntityModel

/// Binds predicates and expressions to an entity, or to the columns of grouped rows: names become
/// positions, constants get the kinds of the values they are compared with, and invalid requests
/// are refused before anything is read.
package struct Binder {
  let scope: Scope
  let transaction: ReadTransaction

  package enum Scope {
    case entity(EntityLayout)
    case columns(GroupColumns)
  }

  /// The maximum depth of a tree: evaluating a deeper one would exhaust a thread's stack.
  static let depthMax = 400

  package init(_ scope: Scope, in transaction: ReadTransaction) {
    self.scope = scope
    self.transaction = transaction
  }

  /// Binds a predicate.
  ///
  /// - Throws: `unknownAttribute`, `invalidRequest`.
  package func bind(_ predicate: FetchPredicate, depth: Int = 0) throws -> PredicateProgram {
    guard depth < Binder.depthMax else {
      throw StoreError(
        .invalidRequest, "a predicate is nested too deeply", [("limit", String(Binder.depthMax))],
        advice: "use IN for long lists, and fewer parentheses")
    }
    switch predicate {
    case .always(let value): return .constant(Logic(value))
    case .comparison(let comparison): return try bind(comparison)
    case .exists(let path, let part): return try exists(path, part, depth)
    case .and(let parts): return .and(try parts.map { try bind($0, depth: depth + 1) })
    case .or(let parts): return .or(try parts.map { try bind($0, depth: depth + 1) })
    case .not(let part): return .not(try bind(part, depth: depth + 1))
    }
  }

  private func exists(
    _ path: String, _ part: FetchPredicate, _ depth: Int
  ) throws -> PredicateProgram {
    let resolved = try resolve(path)
    guard case .relationship(let hop) = resolved.end else {
      throw StoreError(
        .invalidRequest, "SATISFIES needs the path of a relationship", [("path", path)],
        advice: "compare the elements of a list with ANY")
    }
    let inner = Binder(.entity(hop.destination), in: transaction)
    return .records(resolved.allHops, try inner.bind(part, depth: depth + 1), .any)
  }

  private func bind(_ comparison: FetchPredicate.Comparison) throws -> PredicateProgram {
    if let quantifier = comparison.quantifier { return try bind(comparison, quantifier) }
    return try test(try bind(comparison.left), comparison)
  }

  /// Binds the comparison of an expression with the right side of `whole`.
  func test(
    _ left: BoundExpression, _ whole: FetchPredicate.Comparison
  ) throws -> PredicateProgram {
    switch whole.comparison {
    case .between: try between(left, whole)
    case .isIn: try isIn(left, whole)
    case .contains, .beginsWith, .endsWith, .like, .matches:
      try text(left, try bind(whole.right), whole)
    case .equal, .notEqual, .less, .lessOrEqual, .greater, .greaterOrEqual:
      try order(left, try bind(whole.right), whole, whole.comparison)
    }
  }

  // MARK: Order

  func order(
    _ left: BoundExpression, _ right: BoundExpression, _ whole: FetchPredicate.Comparison,
    _ comparison: ComparisonOperator
  ) throws -> PredicateProgram {
    guard let test = OrderTest(comparison) else { throw misfit(whole) }
    if left.constant?.isNull == true { return nullTest(right, test) }
    if right.constant?.isNull == true { return nullTest(left, test) }
    if left.constant != nil, right.constant == nil {
      return try order(right, left, test.mirrored, whole)
    }
    return try order(left, right, test, whole)
  }

  /// Returns the comparison with the constant null: `==` and `!=` test for null, any order against
  /// it is unknown.
  private func nullTest(_ other: BoundExpression, _ test: OrderTest) -> PredicateProgram {
    switch test {
    case .equal: other.isNull
    case .notEqual: other.position == nil ? .not(other.isNull) : other.tested(by: .isNotNull)
    case .less, .lessOrEqual, .greater, .greaterOrEqual: .constant(.unknown)
    }
  }

  private func order(
    _ left: BoundExpression, _ right: BoundExpression, _ test: OrderTest,
    _ whole: FetchPredicate.Comparison
  ) throws -> PredicateProgram {
    if !whole.options.isEmpty, !(left.kind.isText && right.kind.isText) {
      throw optionsMisfit(whole)
    }
    if case .object = left.kind { return try identity(left, right, test, whole) }
    if case .object = right.kind { return try identity(right, left, test, whole) }
    guard let constant = right.constant, left.constant == nil else {
      guard left.kind.compares(with: right.kind) else { throw misfit(whole) }
      if left.constant?.isNotANumber == true || right.constant?.isNotANumber == true {
        throw misfit(whole)
      }
      if whole.options.isEmpty { return .compare(left.program, test, right.program) }
      return .compareTexts(left.program, right.program, test.comparison, whole.options)
    }
    let value = try right.constant(like: left, constant)
    if !whole.options.isEmpty, whole.options != .normalized {
      return left.tested(by: .text(try TextTest(test.comparison, value.text, whole.options)))
    }
    if left.kind == .value(.int64), case .double(let real) = value {
      return left.tested(by: AttributeTest(test, integer: real))
    }
    if left.kind == .value(.double), case .int64(let integer) = value {
      return left.tested(by: AttributeTest(test, real: integer))
    }
    return left.tested(by: AttributeTest(test, value))
  }

  private func identity(
    _ object: BoundExpression, _ other: BoundExpression, _ test: OrderTest,
    _ whole: FetchPredicate.Comparison
  ) throws -> PredicateProgram {
    guard test == .equal || test == .notEqual,
      other.kind == object.kind || other.constant?.kind == .int64
    else { throw misfit(whole) }
    guard case .int64(let id)? = other.constant else {
      return .compare(object.program, test, other.program)
    }
    if case .identity = object.program {
      return test == .equal ? .identity([id]) : .not(.identity([id]))
    }
    return object.tested(by: .int64(test, id))
  }

  // MARK: Ranges and lists of constants

  func between(
    _ left: BoundExpression, _ whole: FetchPredicate.Comparison
  ) throws -> PredicateProgram {
    guard case .list(let bounds) = whole.right, bounds.count == 2 else {
      throw StoreError(
        .invalidRequest, "BETWEEN needs a list of two", [("predicate", whole.text)],
        advice: "write it as attribute BETWEEN {1, 10}")
    }
    return .and([
      try order(left, try bind(bounds[0]), whole, .greaterOrEqual),
      try order(left, try bind(bounds[1]), whole, .lessOrEqual),
    ])
  }

  func isIn(
    _ left: BoundExpression, _ whole: FetchPredicate.Comparison
  ) throws -> PredicateProgram {
    guard let list = whole.right.elements else {
      let right = try bind(whole.right)
      if right.constant?.isNull == true { return .constant(.unknown) }
      guard right.kind == .value(.strings), left.kind == .value(.string) || left.kind == .null
      else { throw misfit(whole) }
      return contains(list: right, left)
    }
    if list.isEmpty { return .constant(.no) }
    let elements = try list.map { try bind($0) }
    let constants = elements.compactMap(\.constant)
    guard constants.count == elements.count, left.constant == nil else {
      // No value equals null, here as in SQL.
      return .or(
        try elements.map { element in
          element.constant?.isNull == true || left.constant?.isNull == true
            ? .constant(.unknown) : try order(left, element, whole, .equal)
        })
    }
    var values: [Value] = []
    for (element, constant) in zip(elements, constants) where !constant.isNull {
      values.append(try fit(element, constant, left, whole))
    }
    return try isIn(left, values, hasNull: values.count < elements.count, whole)
  }

  private func isIn(
    _ left: BoundExpression, _ values: [Value], hasNull: Bool, _ whole: FetchPredicate.Comparison
  ) throws -> PredicateProgram {
    guard whole.options.isEmpty || left.kind.isText else { throw optionsMisfit(whole) }
    if !whole.options.isEmpty, whole.options != .normalized {
      return left.tested(
        by: .text(try TextTest(within: values.map(\.text), hasNull: hasNull, whole.options)))
    }
    if left.kind == .value(.int64) || left.kind.isObject {
      let numbers = Set(values.compactMap(\.wholeNumber))
      if case .identity = left.program {
        return hasNull ? .or([.identity(numbers), .constant(.unknown)]) : .identity(numbers)
      }
      return left.tested(by: .int64Within(numbers, hasNull: hasNull))
    }
    if left.kind.isBytes {
      let set = ByteSet(values.map { value in value.withBytes { Array($0) } })
      return left.tested(by: .bytesWithin(set, hasNull: hasNull))
    }
    return left.tested(by: .within(Set(values), hasNull: hasNull))
  }

  private func fit(
    _ element: BoundExpression, _ constant: Value, _ left: BoundExpression,
    _ whole: FetchPredicate.Comparison
  ) throws -> Value {
    guard left.kind.isObject else { return try element.constant(like: left, constant) }
    guard element.kind == left.kind || constant.kind == .int64 && !element.kind.isObject else {
      throw misfit(whole)
    }
    return constant
  }

  // MARK: Texts

  func text(
    _ left: BoundExpression, _ right: BoundExpression, _ whole: FetchPredicate.Comparison
  ) throws -> PredicateProgram {
    if left.kind == .value(.strings), whole.comparison == .contains {
      guard whole.options.isEmpty, right.kind == .value(.string) || right.kind == .null else {
        throw StoreError(
          .invalidRequest, "CONTAINS on a list takes a text and no options",
          [("predicate", whole.text)], advice: "use ANY to compare its elements in another way")
      }
      return contains(list: left, right)
    }
    guard left.kind.isText || left.kind == .null, right.kind.isText || right.kind == .null else {
      throw StoreError(
        .invalidRequest, "a text operator is used on a value that is not a text",
        [("predicate", whole.text), ("left", left.kind.name), ("right", right.kind.name)],
        advice: "use it on texts and URLs")
    }
    if left.kind == .null || right.kind == .null { return .constant(.unknown) }
    guard let constant = right.constant else {
      return .compareTexts(left.program, right.program, whole.comparison, whole.options)
    }
    return left.tested(by: .text(try TextTest(whole.comparison, constant.text, whole.options)))
  }

  private func contains(list: BoundExpression, _ element: BoundExpression) -> PredicateProgram {
    guard let position = list.position, case .string? = element.constant,
      let constant = element.constant
    else { return .containsExpression(list: list.program, element.program) }
    let test = PredicateProgram.contains(position, AttributeTest(.equal, constant))
    return list.hops.reversed().reduce(test) { .linked($1, $0) }
  }

  // MARK: Refusals

  private func misfit(_ whole: FetchPredicate.Comparison) -> StoreError {
    StoreError(
      .invalidRequest, "values of different types are compared", [("predicate", whole.text)],
      advice: "compare texts with texts, numbers with numbers, records with records")
  }

  private func optionsMisfit(_ whole: FetchPredicate.Comparison) -> StoreError {
    StoreError(
      .invalidRequest, "[c], [d], [n] and [l] apply to texts only", [("predicate", whole.text)],
      advice: "leave the options out")
  }
}

extension ExpressionKind {
  var isObject: Bool { if case .object = self { true } else { false } }
}

extension Value {
  /// The value of an integer, or of a double that is a whole number.
  fileprivate var wholeNumber: Int64? {
    switch self {
    case .int64(let number): number
    case .double(let number): Int64(exactly: number)
    default: nil
    }
  }
}

extension FetchPredicate.Comparison {
  /// The comparison as a format string would write it.
  var text: String { FetchPredicate.comparison(self).description }
}

extension FetchExpression {
  /// The elements of a list of expressions or of texts.
  fileprivate var elements: [FetchExpression]? {
    switch self {
    case .list(let elements): elements
    case .value(.strings(let texts)): texts.map { .value(.string($0)) }
    default: nil
    }
  }
}
