package import EntityModel

/// A predicate bound to an entity. It is evaluated on a record's bytes if its sides are an
/// attribute and constants.
package indirect enum PredicateProgram {
  case constant(Logic)
  case attribute(Int, AttributeTest)
  /// The record id is one of these.
  case identity(Set<Int64>)
  /// A predicate on the record that a to-one relationship leads to.
  case linked(Hop, PredicateProgram)
  /// A predicate that is true of some record at the end of the path, or of every one.
  case records([Hop], PredicateProgram, FetchPredicate.Quantifier)
  /// A predicate that is true of some element of a list, or of every one; each is a row of one
  /// value.
  case elements(Int, PredicateProgram, FetchPredicate.Quantifier)
  case isNull(ExpressionProgram)
  case expression(ExpressionProgram, AttributeTest)
  case compare(ExpressionProgram, OrderTest, ExpressionProgram)
  case compareTexts(ExpressionProgram, ExpressionProgram, ComparisonOperator, ComparisonOptions)
  /// An element of the list passes the test; unknown if the list is null.
  case contains(Int, AttributeTest)
  /// The text is an element of the list; unknown if either is null.
  case containsExpression(list: ExpressionProgram, ExpressionProgram)
  case and([PredicateProgram])
  case or([PredicateProgram])
  case not(PredicateProgram)

  /// Returns true if a fetch returns the record.
  ///
  /// - Throws: `damaged`; `invalidRequest` for arithmetic without a result and for a regular
  ///   expression that takes too long.
  package func matches(_ row: FetchRow, in transaction: ReadTransaction) throws -> Bool {
    try evaluate(row, in: transaction) == .yes
  }

  func evaluate(_ row: FetchRow, in transaction: ReadTransaction) throws -> Logic {
    switch self {
    case .constant(let logic): return logic
    case .attribute(let position, let test): return try test.evaluate(row, position)
    case .identity(let ids): return row.isMissing ? .unknown : Logic(ids.contains(row.id))
    case .linked(let hop, let program):
      return try hop.follow(row, in: transaction) { try program.evaluate($0, in: transaction) }
    case .records(let hops, let program, let quantifier):
      return try records(hops, program, quantifier, row, transaction)
    case .elements(let position, let test, let quantifier):
      return try elements(position, test, quantifier, row, transaction)
    case .isNull(let expression):
      return Logic(try expression.evaluate(row, in: transaction).isNull)
    case .expression(let expression, let test):
      return try test.evaluate(try expression.evaluate(row, in: transaction))
    case .compare(let left, let test, let right):
      let left = try left.evaluate(row, in: transaction)
      let right = try right.evaluate(row, in: transaction)
      if left.isNull || right.isNull { return .unknown }
      return Logic(left.compared(withNumber: right).map(test.holds) ?? false)
    case .compareTexts(let left, let right, let comparison, let options):
      let left = try left.evaluate(row, in: transaction)
      let right = try right.evaluate(row, in: transaction)
      if left.isNull || right.isNull { return .unknown }
      return try left.withBytes {
        try TextTest(comparison, right.text, options).evaluate($0)
      }
    case .contains(let position, let test):
      if try AttributeTest.isNull.evaluate(row, position) == .yes { return .unknown }
      return try elements(position, .attribute(0, test), .any, row, transaction)
    case .containsExpression(let list, let element):
      let element = try element.evaluate(row, in: transaction)
      guard case .strings(let elements) = try list.evaluate(row, in: transaction), !element.isNull
      else { return .unknown }
      return Logic(elements.contains { Value.string($0) == element })
    case .and(let parts): return try PredicateProgram.all(parts, row, transaction)
    case .or(let parts): return try PredicateProgram.any(parts, row, transaction)
    case .not(let part): return try part.evaluate(row, in: transaction).negated
    }
  }

  private func records(
    _ hops: [Hop], _ program: PredicateProgram, _ quantifier: FetchPredicate.Quantifier,
    _ row: FetchRow, _ transaction: ReadTransaction
  ) throws -> Logic {
    let isAny = quantifier == .any
    // The loop ends with the first record that decides.
    let endsWithout = try Hop.followAll(hops[...], row, in: transaction) { row in
      try program.matches(row, in: transaction) != isAny
    }
    return Logic(endsWithout != isAny)
  }

  private func elements(
    _ position: Int, _ test: PredicateProgram, _ quantifier: FetchPredicate.Quantifier,
    _ row: FetchRow, _ transaction: ReadTransaction
  ) throws -> Logic {
    let isAny = quantifier == .any
    if case .record(let view) = row.fields, case .attribute(_, let test) = test {
      return try elements(of: view.field(position), test, isAny: isAny)
    }
    guard case .strings(let elements) = try row.value(position) else { return Logic(!isAny) }
    for element in elements {
      let row = FetchRow(id: row.id, fields: .values([.string(element)]))
      if try test.matches(row, in: transaction) == isAny { return Logic(isAny) }
    }
    return Logic(!isAny)
  }

  /// Evaluates a test on the bytes of the list, without creating its elements.
  private func elements(
    of field: RecordField, _ test: AttributeTest, isAny: Bool
  ) throws -> Logic {
    if field.isNull { return Logic(!isAny) }
    let list = try field.bytes()
    var offset = 0
    while let element = try RecordField.element(of: list, at: &offset) {
      if try (test.evaluate(text: element) == .yes) == isAny { return Logic(isAny) }
    }
    return Logic(!isAny)
  }

  private static func all(
    _ parts: [PredicateProgram], _ row: FetchRow, _ transaction: ReadTransaction
  ) throws -> Logic {
    var logic = Logic.yes
    for part in parts {
      switch try part.evaluate(row, in: transaction) {
      case .no: return .no
      case .unknown: logic = .unknown
      case .yes: continue
      }
    }
    return logic
  }

  private static func any(
    _ parts: [PredicateProgram], _ row: FetchRow, _ transaction: ReadTransaction
  ) throws -> Logic {
    var logic = Logic.no
    for part in parts {
      switch try part.evaluate(row, in: transaction) {
      case .yes: return .yes
      case .unknown: logic = .unknown
      case .no: continue
      }
    }
    return logic
  }
}

extension PredicateProgram {
  /// True if the evaluation on one record may take long: regular expressions, and aggregates of
  /// many records.
  var isCostly: Bool {
    switch self {
    case .attribute(_, .text(let test)), .expression(_, .text(let test)): test.isCostly
    case .records, .compareTexts: true
    case .linked(_, let program), .elements(_, let program, _): program.isCostly
    case .isNull(let expression), .expression(let expression, _): expression.attributes == nil
    case .compare(let left, _, let right), .containsExpression(let left, let right):
      left.attributes == nil || right.attributes == nil
    case .constant, .attribute, .identity, .contains: false
    case .and(let parts), .or(let parts): parts.contains(where: \.isCostly)
    case .not(let part): part.isCostly
    }
  }

  /// The attributes of the record itself that the predicate reads; `nil` if it reads other values,
  /// too.
  var attributes: Set<Int>? {
    switch self {
    case .constant, .identity: []
    case .attribute(let position, _), .elements(let position, _, _), .contains(let position, _):
      [position]
    case .linked, .records: nil
    case .isNull(let expression), .expression(let expression, _): expression.attributes
    case .compare(let left, _, let right), .compareTexts(let left, let right, _, _),
      .containsExpression(let left, let right):
      PredicateProgram.union([left.attributes, right.attributes])
    case .and(let parts), .or(let parts): PredicateProgram.union(parts.map(\.attributes))
    case .not(let part): part.attributes
    }
  }

  static func union(_ sets: [Set<Int>?]) -> Set<Int>? {
    var union: Set<Int> = []
    for set in sets {
      guard let set else { return nil }
      union.formUnion(set)
    }
    return union
  }
}
