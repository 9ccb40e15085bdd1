public import EntityModel
public import EntityStore
public import Foundation

/// An attribute type whose least and greatest value can be requested.
public protocol OrderedAttribute: AttributeValue {
  /// The type itself, without null.
  associatedtype Extremum: AggregateResult
}

/// An attribute type whose values can be summed.
public protocol NumericAttribute: OrderedAttribute {
  associatedtype Sum: AggregateResult
  associatedtype Average: AggregateResult
}

/// A type that an aggregate can return.
public protocol AggregateResult: Sendable {
  /// Converts the value of an aggregate.
  ///
  /// - Returns: `nil` for a value of another type, and for null.
  init?(aggregate value: Value)
}

extension Int64: NumericAttribute, AggregateResult {
  public typealias Extremum = Int64
  public typealias Sum = Int64
  public typealias Average = Double

  public init?(aggregate value: Value) {
    guard case .int64(let number) = value else { return nil }
    self = number
  }
}

extension Int: NumericAttribute, AggregateResult {
  public typealias Extremum = Int
  public typealias Sum = Int64
  public typealias Average = Double

  public init?(aggregate value: Value) {
    guard case .int64(let number) = value else { return nil }
    self.init(number)
  }
}

extension Double: NumericAttribute, AggregateResult {
  public typealias Extremum = Double
  public typealias Sum = Double
  public typealias Average = Double

  public init?(aggregate value: Value) {
    guard case .double(let number) = value else { return nil }
    self = number
  }
}

extension Decimal: NumericAttribute, AggregateResult {
  public typealias Extremum = Decimal
  public typealias Sum = Decimal
  public typealias Average = Decimal

  public init?(aggregate value: Value) {
    guard case .decimal(let number) = value else { return nil }
    self = number
  }
}

extension Date: OrderedAttribute, AggregateResult {
  public typealias Extremum = Date

  public init?(aggregate value: Value) {
    guard case .date(let date) = value else { return nil }
    self = date
  }
}

extension String: OrderedAttribute, AggregateResult {
  public typealias Extremum = String

  public init?(aggregate value: Value) {
    guard case .string(let text) = value else { return nil }
    self = text
  }
}

extension Optional: OrderedAttribute where Wrapped: OrderedAttribute {
  public typealias Extremum = Wrapped.Extremum
}

extension Optional: NumericAttribute where Wrapped: NumericAttribute {
  public typealias Sum = Wrapped.Sum
  public typealias Average = Wrapped.Average
}
