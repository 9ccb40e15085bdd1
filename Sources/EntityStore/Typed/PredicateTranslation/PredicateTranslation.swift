import EntityModel
import Foundation

/// A node of a `#Predicate`'s tree that can be translated to a `FetchPredicate`.
protocol TranslatableExpression {
  func translate(_ translation: inout PredicateTranslation) throws -> Cases
}

/// The state of one translation: the variables that can be used, with their terms.
struct PredicateTranslation {
  /// The nesting depth: 0 for the records that the predicate is about, one more in each closure
  /// over other records.
  private var scope = 0
  private var variables: [PredicateExpressions.VariableID: (scope: Int, term: Term)] = [:]

  /// Returns the cases of a part of the predicate.
  ///
  /// A node of an unknown type is evaluated as a constant, so that captured values can be combined
  /// by every operation that Foundation evaluates.
  mutating func cases<E: PredicateExpression>(of expression: E) throws -> Cases {
    guard let node = expression as? any TranslatableExpression else {
      return try constant(of: expression)
    }
    let cases = try node.translate(&self)
    guard cases.isWithin(StoreLimits.translatedPredicatePartsMax) else {
      throw StoreError.predicateTooLarge
    }
    return cases
  }

  /// Returns the value of a part that contains no variables.
  /// Translates two expressions, and combines each term of one with each of the other.
  mutating func cases<Left: PredicateExpression, Right: PredicateExpression>(
    of left: Left, _ right: Right, _ combine: (Term, Term) throws -> Cases
  ) throws -> Cases {
    let (left, right) = (try cases(of: left), try cases(of: right))
    return try left.flatMap { left in try right.flatMap { right in try combine(left, right) } }
  }

  func constant<E: PredicateExpression>(of expression: E) throws -> Cases {
    do {
      return Cases(.captured(try expression.evaluate(PredicateBindings())))
    } catch {
      throw StoreError.untranslatable(E.self)
    }
  }

  mutating func bind(_ variable: PredicateExpressions.VariableID, to term: Term) {
    variables[variable] = (scope, term)
  }

  /// Returns the term of a variable.
  ///
  /// - Throws: `invalidRequest` if a closure over other records or elements uses the record outside
  ///   of it.
  func term(_ variable: PredicateExpressions.VariableID) throws -> Term {
    guard let bound = variables[variable] else { throw StoreError.untranslatable("Variable") }
    guard bound.scope == scope || bound.term.isConstant else {
      throw StoreError(
        .invalidRequest,
        "in a #Predicate, a closure over related records or elements uses an outside value",
        advice: "let the closure use only its own argument and captured values")
    }
    return bound.term
  }

  /// Translates the body of a closure over other records or over elements.
  mutating func inside<E: PredicateExpression>(
    _ variable: PredicateExpressions.VariableID, _ term: Term, _ body: E
  ) throws -> Cases {
    scope += 1
    defer { scope -= 1 }
    bind(variable, to: term)
    return try cases(of: body)
  }
}

extension StoreError {
  static var predicateTooLarge: StoreError {
    StoreError(
      .invalidRequest, "a #Predicate is too large after its translation",
      [("parts at most", String(StoreLimits.translatedPredicatePartsMax))],
      advice: "nest fewer conditions in one another, and close over fewer captured elements")
  }

  static func untranslatable(_ node: Any.Type) -> StoreError {
    // Without the generic arguments, which would contain the types of all nodes below.
    let name = String(reflecting: node).prefix { $0 != "<" }
    return untranslatable(name.split(separator: ".").last.map(String.init) ?? "\(node)")
  }

  static func untranslatable(_ node: String) -> StoreError {
    StoreError(
      .invalidRequest, "a part of a #Predicate cannot be translated for a fetch", [("part", node)],
      advice: "compute it outside and capture the result, or write a format string")
  }
}
