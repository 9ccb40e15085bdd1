import EntityModel

/// Binds predicates and expressions to a scope (the records of an entity, or groups of them) and
/// evaluates them as the semantics are written down, three-valued: `nil` is neither true nor false.
struct NaivePredicate<Subject> {
  typealias Operand = NaiveOperand<Subject>
  typealias Logic = (Subject) throws -> Bool?

  /// Resolves paths, `SELF`, collection functions and aggregates in the scope.
  let leaf: (FetchExpression) throws -> Operand
  let exists: (String, FetchPredicate) throws -> (Subject) throws -> Bool

  func bind(_ predicate: FetchPredicate) throws -> Logic {
    switch predicate {
    case .always(let value): return { _ in value }
    case .comparison(let comparison): return try bind(comparison)
    case .exists(let path, let part): return try exists(path, part)
    case .not(let part):
      let logic = try bind(part)
      return { try logic($0).map { !$0 } }
    case .and(let parts): return Self.joined(try parts.map(bind), decisive: false)
    case .or(let parts): return Self.joined(try parts.map(bind), decisive: true)
    }
  }

  /// A decisive part determines the result; without one, an unknown part makes it unknown.
  private static func joined(_ parts: [Logic], decisive: Bool) -> Logic {
    { subject in
      let results = try parts.map { try $0(subject) }
      if results.contains(decisive) { return decisive }
      return results.contains(nil) ? nil : !decisive
    }
  }

  // MARK: Comparisons

  private func bind(_ whole: FetchPredicate.Comparison) throws -> Logic {
    var left = try operand(whole.left)
    if whole.quantifier != nil { left = left.elements }
    if whole.comparison == .equal || whole.comparison == .notEqual {
      let wanted = whole.comparison == .equal
      if whole.right == .value(.null) {
        return quantified(whole, left) { value, _ in value.isNull == wanted }
      }
      if whole.left == .value(.null) {
        let right = try operand(whole.right)
        return { try right.value($0).isNull == wanted }
      }
    }
    let isList = left.kind.valueKind == .strings && whole.quantifier == nil
    switch whole.comparison {
    case .between:
      let bounds = try elements(whole.right, as: left.kind)
      guard bounds.count == 2 else { throw NaiveError.meaningless("BETWEEN without two bounds") }
      let test = ValueTest(whole.options)
      return quantified(whole, left) { value, subject in
        let low = try test.holds(value, .greaterOrEqual, try bounds[0].value(subject))
        let high = try test.holds(value, .lessOrEqual, try bounds[1].value(subject))
        if low == false || high == false { return false }
        return low == nil || high == nil ? nil : true
      }
    case .isIn: return try isIn(whole, left)
    case .contains where isList:
      let element = try operand(whole.right).taking(.attribute(.string))
      return { subject in
        try Self.isMember(
          try element.value(subject), of: try left.value(subject), ValueTest(whole.options))
      }
    case .equal where isList, .notEqual where isList:
      let list = try elements(whole.right, as: .attribute(.string))
      let wanted = whole.comparison == .equal
      return { subject in
        guard case .strings(let own) = try left.value(subject) else { return nil }
        let others = try list.map { try $0.value(subject) }
        return (own.map(Value.string) == others) == wanted
      }
    default:
      let right = try operand(whole.right)
      let a = try left.taking(right.kind)
      // A part of a URL is a text, not a URL.
      let b = whole.comparison.isOfText ? right : try right.taking(left.kind)
      let test = ValueTest(whole.options)
      return quantified(whole, a) { value, subject in
        try test.holds(value, whole.comparison, try b.value(subject))
      }
    }
  }

  private func quantified(
    _ whole: FetchPredicate.Comparison, _ left: Operand,
    _ test: @escaping (Value, Subject) throws -> Bool?
  ) -> Logic {
    { subject in
      let values = try left.values(subject)
      switch whole.quantifier {
      case nil: return try test(values.first ?? .null, subject)
      case .any: return try values.map { try test($0, subject) }.contains(true)
      case .all: return try values.map { try test($0, subject) }.allSatisfy { $0 == true }
      }
    }
  }

  private func isIn(_ whole: FetchPredicate.Comparison, _ left: Operand) throws -> Logic {
    let test = ValueTest(whole.options)
    guard case .list = whole.right else {
      let list = try operand(whole.right)
      let element = try left.taking(.attribute(.string))
      return quantified(whole, element) { value, subject in
        try Self.isMember(value, of: try list.value(subject), test)
      }
    }
    let list = try elements(whole.right, as: left.kind)
    return quantified(whole, left) { value, subject in
      let results = try list.map { try test.holds(value, .equal, try $0.value(subject)) }
      if results.contains(true) { return true }
      return results.contains(nil) ? nil : false
    }
  }

  private static func isMember(_ value: Value, of list: Value, _ test: ValueTest) throws -> Bool? {
    guard case .strings(let elements) = list, !value.isNull else { return nil }
    return try elements.contains { try test.holds(.string($0), .equal, value) == true }
  }

  private func elements(
    _ expression: FetchExpression, as kind: NaiveKind
  ) throws -> [Operand] {
    switch expression {
    case .list(let parts): return try parts.map { try operand($0).taking(kind) }
    case .value(.strings(let texts)): return texts.map { .constant(.string($0)) }
    default: throw NaiveError.meaningless("no list: \(expression)")
    }
  }

  // MARK: Expressions

  func operand(_ expression: FetchExpression) throws -> Operand {
    switch expression {
    case .value(let value): return .constant(value)
    case .object(let id): return Operand(kind: .object) { _ in [.int64(id.number)] }
    case .negative(let part):
      let part = try operand(part)
      return Operand(kind: part.kind) { [try part.value($0).negated()] }
    case .arithmetic(let sign, let left, let right):
      let (a, b) = (try operand(left), try operand(right))
      let kind = try sign.kind(a.kind.valueKind, b.kind.valueKind)
      return Operand(kind: .attribute(AttributeType(kind))) {
        [try sign.apply(try a.value($0), try b.value($0))]
      }
    case .path, .itself, .collection, .aggregate: return try leaf(expression)
    case .list, .variable: throw NaiveError.meaningless("\(expression) as a side")
    }
  }
}

extension ComparisonOperator {
  var isOfText: Bool { [.contains, .beginsWith, .endsWith, .like, .matches].contains(self) }
}
