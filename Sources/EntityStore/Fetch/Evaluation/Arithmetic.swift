import EntityModel
import Foundation

/// Arithmetic on values, as `ArithmeticOperator` describes it. The binder has checked the kinds.
enum Arithmetic {
  /// Evaluates one operation.
  ///
  /// - Throws: `invalidRequest` for an integer that does not fit 64 bits or a result that is not a
  ///   number.
  static func evaluate(_ sign: ArithmeticOperator, _ left: Value, _ right: Value) throws -> Value {
    switch (left, right) {
    case (.null, _), (_, .null): return .null
    case (.int64(let a), .int64(let b)) where sign != .power: return try integer(sign, a, b)
    case (.decimal(let a), .decimal(let b)) where sign != .power: return try decimal(sign, a, b)
    case (.decimal(let a), .int64(let b)) where sign != .power:
      return try decimal(sign, a, Decimal(b))
    case (.int64(let a), .decimal(let b)) where sign != .power:
      return try decimal(sign, Decimal(a), b)
    case (.date(let a), .date(let b)):
      return .double(a.timeIntervalSinceReferenceDate - b.timeIntervalSinceReferenceDate)
    case (.date(let date), _):
      guard let seconds = right.number else { return .null }
      let start = date.timeIntervalSinceReferenceDate
      let end = try real(sign, start, seconds).number ?? start
      return .date(Date(timeIntervalSinceReferenceDate: end))
    case (_, .date(let date)):
      guard let seconds = left.number else { return .null }
      return .date(date + seconds)
    default:
      guard let a = left.number, let b = right.number else { return .null }
      return try real(sign, a, b)
    }
  }

  static func negate(_ value: Value) throws -> Value {
    switch value {
    case .int64(let number):
      let (result, overflows) = Int64(0).subtractingReportingOverflow(number)
      if overflows { throw tooLarge }
      return .int64(result)
    case .double(let number): return .double(-number)
    case .decimal(let number): return .decimal(-number)
    default: return .null
    }
  }

  /// Converts an exact result.
  ///
  /// - Throws: `invalidRequest` for an integer that does not fit 64 bits.
  static func integer(_ exact: Int128) throws -> Int64 {
    guard let number = Int64(exactly: exact) else { throw tooLarge }
    return number
  }

  private static func integer(
    _ sign: ArithmeticOperator, _ a: Int64, _ b: Int64
  ) throws -> Value {
    let (result, overflows) =
      switch sign {
      case .add: a.addingReportingOverflow(b)
      case .subtract: a.subtractingReportingOverflow(b)
      case .multiply: a.multipliedReportingOverflow(by: b)
      case .divide, .power: b == 0 ? (0, false) : a.dividedReportingOverflow(by: b)
      }
    if sign == .divide, b == 0 { return .null }
    if overflows { throw tooLarge }
    return .int64(result)
  }

  private static func decimal(
    _ sign: ArithmeticOperator, _ a: Decimal, _ b: Decimal
  ) throws -> Value {
    if sign == .divide, b == 0 { return .null }
    let result =
      switch sign {
      case .add: a + b
      case .subtract: a - b
      case .multiply: a * b
      case .divide, .power: a / b
      }
    if result.isNaN { throw tooLarge }
    return .decimal(result)
  }

  private static func real(_ sign: ArithmeticOperator, _ a: Double, _ b: Double) throws -> Value {
    if sign == .divide, b == 0 { return .null }
    let result =
      switch sign {
      case .add: a + b
      case .subtract: a - b
      case .multiply: a * b
      case .divide: a / b
      case .power: pow(a, b)
      }
    if result.isNaN { throw tooLarge }
    return .double(result)
  }

  private static var tooLarge: StoreError {
    StoreError(
      .invalidRequest, "the result of an arithmetic expression cannot be represented",
      advice: "use doubles, or exclude the records that cause it")
  }
}

extension Value {
  /// A number of any kind as a double.
  var number: Double? {
    switch self {
    case .int64(let number): Double(number)
    case .double(let number): number
    case .decimal(let number): NSDecimalNumber(decimal: number).doubleValue
    default: nil
    }
  }
}
