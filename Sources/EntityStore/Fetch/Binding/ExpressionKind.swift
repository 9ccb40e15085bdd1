package import EntityModel

/// The kind of value of an expression, known before anything is read.
package enum ExpressionKind: Equatable {
  /// The constant null.
  case null
  case value(ValueKind)
  /// A record of the entity: the value is its record id.
  case object(String)

  var isText: Bool { self == .value(.string) || self == .value(.url) }

  /// True if the values are ordered by their bytes.
  var isBytes: Bool { isText || self == .value(.data) || self == .value(.uuid) }

  var isNumber: Bool {
    self == .value(.int64) || self == .value(.double) || self == .value(.decimal)
  }

  package var name: String {
    switch self {
    case .null: "nil"
    case .value(let kind): kind.rawValue
    case .object(let entity): "a record of \(entity)"
    }
  }

  /// An example of a constant of the kind, if its syntax is not obvious.
  var example: String? {
    switch self {
    case .value(.date): "DATE \"2026-01-31T00:00:00Z\""
    case .value(.uuid): "UUID \"6BA7B810-9DAD-11D1-80B4-00C04FD430C8\""
    case .value(.data): "DATA \"aGVsbG8=\""
    case .value(.decimal): "DECIMAL \"9.99\""
    case .object(let entity): "OBJECT \"\(entity)/7\""
    case .null, .value: nil
    }
  }

  /// Returns true if values of both kinds can be compared.
  package func compares(with other: ExpressionKind) -> Bool {
    self == other || self == .null || other == .null || (isNumber && other.isNumber)
      || (isText && other.isText)
  }
}

/// An expression with the properties that the binder has found.
package struct BoundExpression {
  package var program: ExpressionProgram
  package var kind: ExpressionKind
  /// The to-one relationships that lead to the record that has the attribute.
  var hops: [Hop] = []
  /// The position of the attribute at the end of the hops, if there is one.
  var position: Int?
  /// The description of that attribute: an enumeration has names for constants.
  var attribute: AttributeDescription?

  package var constant: Value? { if case .constant(let value) = program { value } else { nil } }

  /// Returns a test of the expression, on the bytes of the record if it is an attribute.
  func tested(by test: AttributeTest) -> PredicateProgram {
    guard let position else { return .expression(program, test) }
    return hops.reversed().reduce(.attribute(position, test)) { .linked($1, $0) }
  }

  var isNull: PredicateProgram {
    position == nil ? .isNull(program) : tested(by: .isNull)
  }
}
