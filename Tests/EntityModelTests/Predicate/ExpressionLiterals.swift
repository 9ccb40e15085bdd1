public import EntityModel

// In a tree that a test expects, a literal is a constant.
extension FetchExpression: ExpressibleByIntegerLiteral,
  ExpressibleByFloatLiteral, ExpressibleByStringLiteral,
  ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
  public init(integerLiteral value: Int64) { self = .value(.int64(value)) }
  public init(floatLiteral value: Double) { self = .value(.double(value)) }
  public init(stringLiteral value: String) { self = .value(.string(value)) }
  public init(booleanLiteral value: Bool) { self = .value(.bool(value)) }
  public init(nilLiteral: ()) { self = .value(.null) }
}
