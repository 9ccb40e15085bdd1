package import EntityModel
import Foundation

extension BoundExpression {
  /// Converts a constant to the kind of the value that it is compared with.
  ///
  /// An integer is valid for a double or a decimal, a double for a decimal, 0 and 1 for a bool, a
  /// case name for an enumeration, a text for a date, URL, UUID or decimal. Compared with an
  /// integer, a double stays a double; compared with a double, an integer that no double equals
  /// stays an integer.
  ///
  /// - Throws: `invalidRequest` for a constant that does not fit, including NaN.
  func constant(like other: BoundExpression, _ value: Value) throws -> Value {
    if let fitting = BoundExpression.fit(value, other.kind, other.attribute) { return fitting }
    throw StoreError(
      .invalidRequest, "values of different types are compared",
      [
        ("expression", other.attribute?.name ?? other.kind.name),
        ("type", other.attribute?.type.name ?? other.kind.name), ("value", value.text),
        ("its type", kind.name),
      ], advice: other.kind.example.map { "write it as \($0)" } ?? "write a value of that type")
  }

  /// Converts a constant to a kind.
  ///
  /// - Returns: `nil` for a constant that does not fit.
  package static func fit(
    _ value: Value, _ kind: ExpressionKind, _ attribute: AttributeDescription?
  ) -> Value? {
    if value.isNull { return .null }
    if value.isNotANumber { return nil }
    if case .enumeration(let enumeration)? = attribute?.type, case .string(let text) = value,
      let named = enumeration.cases.first(where: { $0.name == text })
    {
      return named.rawValue
    }
    guard case .value(let wanted) = kind else { return nil }
    if value.kind == wanted { return value }
    switch (wanted, value) {
    case (.double, .int64(let number)): return Double(exactly: number).map(Value.double) ?? value
    case (.int64, .double): return value
    case (.decimal, .int64(let number)): return .decimal(Decimal(number))
    case (.decimal, .double(let number)): return decimal(number)
    case (.double, .decimal): return value.number.map(Value.double)
    case (.bool, .int64(let number)): return number == 0 || number == 1 ? .bool(number == 1) : nil
    case (.string, .url(let url)): return .string(url.absoluteString)
    case (.date, .string(let text)), (.url, .string(let text)), (.uuid, .string(let text)),
      (.decimal, .string(let text)):
      // The words `null` and `now` are input for people who type a value, and are not constants.
      if wanted != .url, text == "null" || text == "now" { return nil }
      return Value(text: text, as: wanted, now: .distantPast)
    default: return nil
    }
  }

  /// Converts by way of the shortest text of the double: 9.99 becomes the decimal 9.99.
  private static func decimal(_ number: Double) -> Value? {
    guard number.isFinite else { return nil }
    return Decimal(string: number.description).map(Value.decimal)
  }
}

extension AttributeTest {
  /// Creates the test of a value of the kind against a constant that `constant(like:)` has
  /// converted.
  init(_ test: OrderTest, _ constant: Value) {
    switch constant {
    case .int64(let number): self = .int64(test, number)
    case .double(let number): self = .double(test, number)
    case .date(let date): self = .double(test, date.timeIntervalSinceReferenceDate)
    case .string, .url, .data, .uuid: self = .bytes(test, constant.withBytes { Array($0) })
    case .null, .bool, .decimal, .strings: self = .value(test, constant)
    }
  }

  /// Creates the test of a double against an integer that no double equals.
  init(_ test: OrderTest, real integer: Int64) {
    let nearest = Double(integer)
    let isBelow = Value.double(nearest).compared(withNumber: .int64(integer)) == .ascending
    switch test {
    case .equal: self = .double(.less, -.infinity)
    case .notEqual: self = .double(.lessOrEqual, .infinity)
    case .less, .lessOrEqual: self = .double(isBelow ? .lessOrEqual : .less, nearest)
    case .greater, .greaterOrEqual: self = .double(isBelow ? .greater : .greaterOrEqual, nearest)
    }
  }

  /// Creates the test of an integer against a double.
  init(_ test: OrderTest, integer real: Double) {
    switch test.integerTest(real) {
    case .test(let test, let number): self = .int64(test, number)
    case .constant(true): self = .int64(.lessOrEqual, .max)
    case .constant(false): self = .int64(.less, .min)
    }
  }
}
