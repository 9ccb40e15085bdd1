import EntityModel
import Foundation

/// Arithmetic and the order of numbers, as the semantics are written down.

extension AttributeType {
  init(_ kind: ValueKind) {
    switch kind {
    case .int64: self = .int64
    case .double: self = .double
    case .decimal: self = .decimal
    case .bool: self = .bool
    case .string: self = .string
    case .date: self = .date
    case .uuid: self = .uuid
    case .data: self = .data
    case .url: self = .url
    case .strings: self = .strings
    }
  }
}

extension Value {
  /// How two values compare that are not null; numbers with numbers, else of one kind.
  ///
  /// - Returns: `nil` if no order is defined.
  func order(with other: Value) -> Ordering? {
    switch (self, other) {
    case (.int64(let a), .double(let b)): Self.order(a, b)
    case (.double(let a), .int64(let b)): Self.order(b, a).reversed
    case (.decimal(let a), .int64(let b)): Value.decimal(a).compared(with: .decimal(Decimal(b)))
    case (.int64(let a), .decimal(let b)): Value.decimal(Decimal(a)).compared(with: .decimal(b))
    case (.decimal, .double), (.double, .decimal):
      Value.double(asDouble).compared(with: .double(other.asDouble))
    default: compared(with: other)
    }
  }

  /// Exactly, as numbers on a line: neither is rounded to the kind of the other.
  private static func order(_ integer: Int64, _ double: Double) -> Ordering {
    if double >= 0x1p63 { return .ascending }
    if double < -0x1p63 { return .descending }
    let whole = double.rounded(.down)
    let floor = Int64(whole)
    if integer == floor { return whole == double ? .same : .ascending }
    return integer < floor ? .ascending : .descending
  }

  /// The double nearest to a number.
  var asDouble: Double {
    switch self {
    case .int64(let number): Double(number)
    case .double(let number): number
    case .decimal(let number): Double(number.description) ?? .nan
    case .date(let date): date.timeIntervalSinceReferenceDate
    default: .nan
    }
  }

  func negated() throws -> Value {
    switch self {
    case .int64(.min): throw NaiveError.overflow
    case .int64(let number): .int64(-number)
    case .double(let number): .double(-number)
    case .decimal(let number): .decimal(-number)
    default: .null
    }
  }
}

extension ArithmeticOperator {
  func kind(_ left: ValueKind?, _ right: ValueKind?) throws -> ValueKind {
    switch (left, right) {
    case (.date, .date) where self == .subtract: return .double
    case (.date, .int64), (.date, .double):
      if self == .add || self == .subtract { return .date }
    case (.int64, .date), (.double, .date): if self == .add { return .date }
    case (.int64, .int64): return self == .power ? .double : .int64
    case (.decimal, .decimal), (.decimal, .int64), (.int64, .decimal):
      return self == .power ? .double : .decimal
    case (.double, .int64), (.int64, .double), (.double, .double), (.decimal, .double),
      (.double, .decimal):
      return .double
    default: break
    }
    throw NaiveError.meaningless(
      "\(String(describing: left)) \(rawValue) \(String(describing: right))")
  }

  func apply(_ left: Value, _ right: Value) throws -> Value {
    if left.isNull || right.isNull { return .null }
    switch try kind(left.kind, right.kind) {
    case .int64:
      guard case .int64(let a) = left, case .int64(let b) = right else { return .null }
      return try integers(a, b)
    case .decimal:
      guard case .decimal(let a) = try left.taking(.decimal),
        case .decimal(let b) = try right.taking(.decimal)
      else { return .null }
      return decimals(a, b)
    case .date:
      guard case .double(let seconds) = doubles(left.asDouble, right.asDouble) else { return .null }
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    default: return doubles(left.asDouble, right.asDouble)
    }
  }

  private func integers(_ a: Int64, _ b: Int64) throws -> Value {
    let result: (partialValue: Int64, overflow: Bool)
    switch self {
    case .add: result = a.addingReportingOverflow(b)
    case .subtract: result = a.subtractingReportingOverflow(b)
    case .multiply: result = a.multipliedReportingOverflow(by: b)
    case .divide:
      if b == 0 { return .null }
      result = a.dividedReportingOverflow(by: b)
    case .power: return doubles(Double(a), Double(b))
    }
    if result.overflow { throw NaiveError.overflow }
    return .int64(result.partialValue)
  }

  private func decimals(_ a: Decimal, _ b: Decimal) -> Value {
    switch self {
    case .add: .decimal(a + b)
    case .subtract: .decimal(a - b)
    case .multiply: .decimal(a * b)
    case .divide: b == 0 ? .null : .decimal(a / b)
    case .power: .null
    }
  }

  private func doubles(_ a: Double, _ b: Double) -> Value {
    switch self {
    case .add: .double(a + b)
    case .subtract: .double(a - b)
    case .multiply: .double(a * b)
    case .divide: b == 0 ? .null : .double(a / b)
    case .power: .double(pow(a, b))
    }
  }
}

/// Aggregates of values, without the nulls.
enum NaiveAggregates {
  /// - Parameter kind: That of the argument.
  static func sum(_ values: [Value], _ kind: ValueKind) throws -> Value {
    switch kind {
    case .int64:
      var sum: Int128 = 0
      for case .int64(let number) in values { sum += Int128(number) }
      guard let result = Int64(exactly: sum) else { throw NaiveError.overflow }
      return .int64(result)
    case .decimal:
      return try values.reduce(.decimal(0)) { try ArithmeticOperator.add.apply($0, $1) }
    default: return .double(values.reduce(0) { $0 + $1.asDouble })
    }
  }

  static func average(_ values: [Value], _ kind: ValueKind) throws -> Value {
    if values.isEmpty { return .null }
    if kind == .decimal {
      return try ArithmeticOperator.divide.apply(
        try sum(values, kind), .int64(Int64(values.count)))
    }
    return .double(values.reduce(0) { $0 + $1.asDouble } / Double(values.count))
  }

  static func least(_ values: [Value]) -> Value { extreme(values, .ascending) }
  static func greatest(_ values: [Value]) -> Value { extreme(values, .descending) }

  private static func extreme(_ values: [Value], _ wanted: Ordering) -> Value {
    values.reduce(.null) { $0.isNull || $1.compared(with: $0) == wanted ? $1 : $0 }
  }
}
