public import Foundation

/// A value for `%@`, `%K` or a number specifier of a format string, or for a variable.
public protocol PredicateArgument {
  /// Returns the argument as a part of the tree.
  ///
  /// - Throws: An error if it cannot be one: for example, a key path that stands for no attribute.
  func predicateExpression() throws -> FetchExpression
}

extension FetchExpression: PredicateArgument {
  public func predicateExpression() -> FetchExpression { self }
}

extension Value: PredicateArgument {
  public func predicateExpression() -> FetchExpression { .value(self) }
}

extension ObjectID: PredicateArgument {
  public func predicateExpression() -> FetchExpression { .object(self) }
}

extension String: PredicateArgument {
  public func predicateExpression() throws -> FetchExpression { .value(.string(self)) }
}

extension Int: PredicateArgument {
  public func predicateExpression() throws -> FetchExpression { .value(.int64(Int64(self))) }
}

extension Int64: PredicateArgument {
  public func predicateExpression() throws -> FetchExpression { .value(.int64(self)) }
}

extension Int32: PredicateArgument {
  public func predicateExpression() throws -> FetchExpression { .value(.int64(Int64(self))) }
}

extension Double: PredicateArgument {
  public func predicateExpression() throws -> FetchExpression { .value(.double(self)) }
}

extension Decimal: PredicateArgument {
  public func predicateExpression() throws -> FetchExpression { .value(.decimal(self)) }
}

extension Bool: PredicateArgument {
  public func predicateExpression() throws -> FetchExpression { .value(.bool(self)) }
}

extension Date: PredicateArgument {
  public func predicateExpression() throws -> FetchExpression { .value(.date(self)) }
}

extension UUID: PredicateArgument {
  public func predicateExpression() throws -> FetchExpression { .value(.uuid(self)) }
}

extension Data: PredicateArgument {
  public func predicateExpression() throws -> FetchExpression { .value(.data(self)) }
}

extension URL: PredicateArgument {
  public func predicateExpression() throws -> FetchExpression { .value(.url(self)) }
}

extension Optional: PredicateArgument where Wrapped: PredicateArgument {
  public func predicateExpression() throws -> FetchExpression {
    try self?.predicateExpression() ?? .value(.null)
  }
}

extension Array: PredicateArgument where Element: PredicateArgument {
  public func predicateExpression() throws -> FetchExpression {
    .list(try map { try $0.predicateExpression() })
  }
}

extension Set: PredicateArgument where Element: PredicateArgument {
  /// Returns the elements, in no particular order.
  public func predicateExpression() throws -> FetchExpression {
    .list(try map { try $0.predicateExpression() })
  }
}
