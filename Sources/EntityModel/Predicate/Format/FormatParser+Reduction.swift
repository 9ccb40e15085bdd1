/// The step in which operators take their operands, and groups their content.
extension FormatParser {
  mutating func push(
    _ tree: Operand.Tree, at offset: Int, height: Int = 1
  ) throws(PredicateFormatError) {
    nodes += 1
    guard nodes <= FormatLimits.nodesMax else {
      throw failure(
        "more than \(FormatLimits.nodesMax) parts; pass long lists as arguments", at: offset)
    }
    guard height <= FormatLimits.nestingMax else { throw tooDeep(at: offset) }
    operands.append(Operand(tree: tree, offset: offset, height: height))
  }

  mutating func open(_ group: Group, at offset: Int) throws(PredicateFormatError) {
    openGroups += 1
    guard openGroups <= FormatLimits.nestingMax else { throw tooDeep(at: offset) }
    try wait(.open(group), at: offset)
  }

  /// Puts an operator or a group on the stack. Each one adds a level to the tree, except
  /// parentheses and ANY, which waits together with its comparison. So a tree that will be too deep
  /// is refused before it is complete.
  mutating func wait(_ kind: Pending.Kind, at offset: Int) throws(PredicateFormatError) {
    guard pending.count < 3 * FormatLimits.nestingMax else { throw tooDeep(at: offset) }
    pending.append(Pending(kind: kind, offset: offset))
  }

  /// Lets the operators of at least this precedence take their operands.
  mutating func reduce(from precedence: Int) throws(PredicateFormatError) {
    while let last = pending.last, last.kind.precedence >= precedence {
      pending.removeLast()
      try reduce(last)
    }
  }

  mutating func reduceToGroup() throws(PredicateFormatError) { try reduce(from: 1) }

  private mutating func reduce(_ last: Pending) throws(PredicateFormatError) {
    switch last.kind {
    case .and(let count):
      let (parts, offset, height) = pop(count)
      try push(.predicate(.and(try parts.map(predicate))), at: offset, height: height + 1)
    case .or(let count):
      let (parts, offset, height) = pop(count)
      try push(.predicate(.or(try parts.map(predicate))), at: offset, height: height + 1)
    case .not:
      let part = operands.removeLast()
      try push(.predicate(.not(try predicate(part))), at: last.offset, height: part.height + 1)
    case .comparison(let comparison, let options):
      try reduceComparison(comparison, options)
    case .satisfies:
      try reduceSatisfies(last.offset)
    case .quantifier(let word):
      throw failure(
        "\(word.rawValue) stands before a comparison: ANY episodes.progress > 0.5",
        at: last.offset)
    case .arithmetic(let sign):
      let right = operands.removeLast()
      let left = operands.removeLast()
      try push(
        .expression(.arithmetic(sign, try expression(left), try expression(right))),
        at: left.offset, height: max(left.height, right.height) + 1)
    case .negative:
      let part = operands.removeLast()
      try push(
        .expression(.negative(try expression(part))), at: last.offset, height: part.height + 1)
    case .open:
      // Not reached: the precedence of these is lower than any that is asked for.
      break
    }
  }

  /// Builds a comparison, with the `ANY` or `ALL` before it.
  private mutating func reduceComparison(
    _ comparison: ComparisonOperator, _ options: ComparisonOptions
  ) throws(PredicateFormatError) {
    let right = operands.removeLast()
    let left = operands.removeLast()
    let quantifier = popQuantifier()
    let made = FetchPredicate.Comparison(
      try expression(left), comparison, try expression(right), options: options,
      quantifier: quantifier.map { $0.word == .all ? .all : .any })
    try push(
      .predicate(.comparison(made)), at: quantifier?.offset ?? left.offset,
      height: max(left.height, right.height) + 1)
    try negate(if: quantifier)
  }

  private mutating func reduceSatisfies(_ place: Int) throws(PredicateFormatError) {
    let part = operands.removeLast()
    let left = operands.removeLast()
    guard case .expression(.path(let path)) = left.tree else {
      throw failure("SATISFIES stands behind a path: ANY episodes SATISFIES (…)", at: place)
    }
    guard let quantifier = popQuantifier(), quantifier.word != .all else {
      throw failure(
        "write ANY before the path: ANY episodes SATISFIES (…); for all of them, "
          + "NOT ANY episodes SATISFIES (NOT (…))", at: place)
    }
    try push(
      .predicate(.exists(path, try predicate(part))), at: quantifier.offset,
      height: part.height + 1)
    try negate(if: quantifier)
  }

  private mutating func popQuantifier() -> (word: QuantifierWord, offset: Int)? {
    guard case .quantifier(let word)? = pending.last?.kind else { return nil }
    return (word, pending.removeLast().offset)
  }

  /// Builds a negation. `NONE x` is `NOT ANY x`.
  private mutating func negate(
    if quantifier: (word: QuantifierWord, offset: Int)?
  ) throws(PredicateFormatError) {
    guard let quantifier, quantifier.word == .notAny else { return }
    try reduce(Pending(kind: .not, offset: quantifier.offset))
  }

  mutating func closeGroup() throws(PredicateFormatError) {
    try reduceToGroup()
    guard let last = pending.last, case .open(let group) = last.kind else {
      throw failure("nothing is open here; leave out \(found)")
    }
    let isBrace = token.kind == .symbol(.closeBrace)
    if case .list = group {
      guard isBrace else { throw failure("this list ends with }, found \(found)") }
    } else if isBrace {
      throw failure("this group ends with ), found \(found)")
    }
    pending.removeLast()
    openGroups -= 1
    switch group {
    case .parenthesis: break
    case .list(let before):
      let (parts, _, height) = pop(before + 1)
      try push(
        .expression(.list(try parts.map(expression))), at: last.offset, height: height + 1)
    case .aggregate(let function):
      let part = operands.removeLast()
      try push(
        .expression(.aggregate(function, try expression(part))), at: last.offset,
        height: part.height + 1)
    case .single(let isAnd):
      let part = operands.removeLast()
      let parts = [try predicate(part)]
      try push(
        .predicate(isAnd ? .and(parts) : .or(parts)), at: last.offset, height: part.height + 1)
    }
    try advance()
  }

  // MARK: - Operands

  // Operators and commas are read only after an operand, and each waits for the next one. So when
  // they take their operands, there are enough on the stack.

  /// Removes the last operands.
  ///
  /// - Returns: The operands, the offset of the first one, and the greatest height.
  private mutating func pop(_ count: Int) -> (parts: [Operand], offset: Int, height: Int) {
    let parts = Array(operands.suffix(count))
    operands.removeLast(count)
    return (parts, parts[0].offset, parts.map(\.height).max() ?? 0)
  }

  /// Converts the operand to a condition.
  func predicate(_ operand: Operand) throws(PredicateFormatError) -> FetchPredicate {
    guard case .predicate(let predicate) = operand.tree else { throw notAPredicate(operand) }
    return predicate
  }

  /// Converts the operand to a value.
  func expression(_ operand: Operand) throws(PredicateFormatError) -> FetchExpression {
    guard case .expression(let expression) = operand.tree else { throw notAnExpression(operand) }
    return expression
  }

  private func notAPredicate(_ operand: Operand) -> PredicateFormatError {
    let advice =
      switch operand.tree {
      case .expression(.path(let path)): "write \(FetchExpression.path(path)) == TRUE"
      case .expression(.value(.bool(let flag))): "write \(FetchPredicate.always(flag))"
      case .expression, .predicate: "compare it: x == 1"
      }
    return failure("a value alone is no condition; \(advice)", at: operand.offset)
  }

  private func notAnExpression(_ operand: Operand) -> PredicateFormatError {
    failure(
      "expected a value, found a condition; a comparison has two values, and several are joined "
        + "by AND and OR", at: operand.offset)
  }

  private func tooDeep(at offset: Int) -> PredicateFormatError {
    failure("nested deeper than \(FormatLimits.nestingMax) levels; write it flatter", at: offset)
  }
}
