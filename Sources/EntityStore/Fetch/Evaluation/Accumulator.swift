import EntityModel
import Foundation

/// Collects the values of one aggregate, one at a time.
struct Accumulator {
  private let function: AggregateFunction
  private var count: Int64 = 0
  private var value = Value.null
  private var distinct: Set<Value> = []

  init(_ function: AggregateFunction) { self.function = function }

  /// Takes rows for `count(*)`.
  mutating func addRows(_ number: Int = 1) { count += Int64(number) }

  /// Takes a value; null does not take part.
  ///
  /// - Throws: `invalidRequest` when a sum of integers does not fit 64 bits.
  mutating func add(_ next: Value) throws {
    if next.isNull { return }
    count += 1
    switch function {
    case .count: break
    case .countDistinct: distinct.insert(next)
    case .sum, .average: value = value.isNull ? next : try sum(value, next)
    case .minimum: if value.isNull || next.compared(with: value) == .ascending { value = next }
    case .maximum: if value.isNull || next.compared(with: value) == .descending { value = next }
    }
  }

  /// An average needs no sum that fits: integers are summed as doubles once they overflow.
  private func sum(_ left: Value, _ right: Value) throws -> Value {
    if function == .average, case .int64(let a) = left, case .int64(let b) = right,
      a.addingReportingOverflow(b).overflow
    {
      return .double(Double(a) + Double(b))
    }
    return try Arithmetic.evaluate(.add, left, right)
  }

  func result() throws -> Value {
    switch function {
    case .count: .int64(count)
    case .countDistinct: .int64(Int64(distinct.count))
    case .sum, .minimum, .maximum: value
    case .average:
      switch value {
      case .int64(let sum): .double(Double(sum) / Double(count))
      case .double(let sum): .double(sum / Double(count))
      case .decimal(let sum): .decimal(sum / Decimal(count))
      default: .null
      }
    }
  }
}
