import EntityModel
import Foundation

/// Collects the values of one aggregate, one at a time.
struct Accumulator {
  private let function: AggregateFunction
  private var count: Int64 = 0
  private var value = Value.null
  /// The sum of integers. No number of records makes it overflow: the order of the records does not
  /// decide whether the result fits.
  private var total: Int128 = 0
  private var distinct: Set<Value> = []

  init(_ function: AggregateFunction) { self.function = function }

  /// Counts rows for `count(*)`.
  mutating func addRows(_ number: Int = 1) { count += Int64(number) }

  /// Adds a value; null is ignored.
  ///
  /// - Throws: `invalidRequest` when a sum of decimals or doubles cannot be represented.
  mutating func add(_ next: Value) throws {
    if next.isNull { return }
    count += 1
    switch function {
    case .count: break
    case .countDistinct: distinct.insert(next)
    case .sum, .average:
      if case .int64(let number) = next { total += Int128(number) }
      value =
        value.isNull || next.kind == .int64 ? next : try Arithmetic.evaluate(.add, value, next)
    case .minimum: if value.isNull || next.compared(with: value) == .ascending { value = next }
    case .maximum: if value.isNull || next.compared(with: value) == .descending { value = next }
    }
  }

  /// Adds a value from a record's bytes, without creating a `Value` for a sum of numbers.
  @inline(__always)
  mutating func add(_ field: RecordField) throws {
    if field.isNull { return }
    guard function == .sum || function == .average, field.kind == .int64 else {
      return try add(try FetchRow.value(of: field))
    }
    count += 1
    total += Int128(field.int64)
    if count == 1 { value = .int64(0) }
  }

  /// Returns the aggregate.
  ///
  /// - Throws: `invalidRequest` when a sum of integers does not fit 64 bits.
  func result() throws -> Value {
    switch function {
    case .count: .int64(count)
    case .countDistinct: .int64(Int64(distinct.count))
    case .minimum, .maximum: value
    case .sum: value.kind == .int64 ? .int64(try Arithmetic.integer(total)) : value
    case .average:
      switch value {
      case .int64: .double(Double(total) / Double(count))
      case .double(let sum): .double(sum / Double(count))
      case .decimal(let sum): .decimal(sum / Decimal(count))
      default: .null
      }
    }
  }
}
