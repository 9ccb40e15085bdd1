import EntityModel
import Foundation

extension Value {
  /// Compares the value with another one; numbers of different kinds are compared by their numeric
  /// values.
  ///
  /// An integer and a double are compared exactly, without rounding either.
  ///
  /// - Returns: `nil` if no order is defined.
  func compared(withNumber other: Value) -> Ordering? {
    switch (self, other) {
    case (.int64(let a), .double(let b)): Value.compare(a, b)
    case (.double(let a), .int64(let b)): Value.compare(b, a)?.reversed
    case (.decimal(let a), .int64(let b)): Value.decimal(a).compared(with: .decimal(Decimal(b)))
    case (.int64(let a), .decimal(let b)): Value.decimal(Decimal(a)).compared(with: .decimal(b))
    case (.decimal, .double(let b)): number.flatMap { Value.double($0).compared(with: .double(b)) }
    case (.double, .decimal): other.number.flatMap { compared(with: .double($0)) }
    default: compared(with: other)
    }
  }

  private static func compare(_ integer: Int64, _ real: Double) -> Ordering? {
    if real.isNaN { return nil }
    if real >= 9_223_372_036_854_775_808 { return .ascending }
    if real < -9_223_372_036_854_775_808 { return .descending }
    // The whole part fits into 64 bits here, and it is exact.
    let whole = Int64(real.rounded(.down))
    if integer != whole { return integer < whole ? .ascending : .descending }
    return real == real.rounded(.down) ? .same : .ascending
  }
}
