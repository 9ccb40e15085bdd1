/// The new value that a batch update gives to an attribute or a to-one relationship.
public enum AttributeAssignment: Hashable, Sendable {
  /// A constant, or an expression on the record as it was before the update: `wins + 1`. For a
  /// relationship: a record, a path that leads to one, or null.
  case expression(FetchExpression)
  /// The time at which the batch began. It is the same for all records, even after an interruption.
  case now

  public static func value(_ value: Value) -> AttributeAssignment { .expression(.value(value)) }

  public static func object(_ id: ObjectID) -> AttributeAssignment { .expression(.object(id)) }

  /// Reads an expression in the language of predicates.
  ///
  /// - Throws: `PredicateFormatError`.
  public static func format(
    _ format: String, _ arguments: (any PredicateArgument)?...
  ) throws(PredicateFormatError) -> AttributeAssignment {
    .expression(try FetchExpression(format: format, arguments: arguments))
  }

  /// The text by which two requests are distinguished.
  package var identity: String {
    switch self {
    case .expression(let expression): "= \(expression)"
    case .now: "now"
    }
  }
}

extension AttributeAssignment: ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
  ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  public init(integerLiteral value: Int64) { self = .value(.int64(value)) }
  public init(floatLiteral value: Double) { self = .value(.double(value)) }
  public init(stringLiteral value: String) { self = .value(.string(value)) }
  public init(booleanLiteral value: Bool) { self = .value(.bool(value)) }
  public init(nilLiteral: ()) { self = .value(.null) }
}
