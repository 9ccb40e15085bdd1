/// The arguments of a format string, which are consumed from left to right.
struct FormatArguments {
  private let values: [(any PredicateArgument)?]
  private(set) var used = 0

  init(_ values: [(any PredicateArgument)?]) { self.values = values }

  var count: Int { values.count }
  var areUsedUp: Bool { used == values.count }

  /// Consumes the next argument and checks that it fits the specifier.
  ///
  /// - Parameter failure: Creates the error for a message at the specifier's place.
  mutating func next(
    _ specifier: FormatSpecifier, _ failure: (String) -> PredicateFormatError
  ) throws(PredicateFormatError) -> FetchExpression {
    let name = "%\(specifier.rawValue)"
    guard used < values.count else {
      throw failure("\(name) is specifier \(used + 1) of \(values.count) arguments; pass one more")
    }
    let argument = values[used]
    used += 1
    let expression: FetchExpression
    do {
      expression = try argument?.predicateExpression() ?? .value(.null)
    } catch {
      throw failure("argument \(used), for \(name): \(error)")
    }
    guard !expression.hasNotANumber else {
      throw failure("argument \(used), for \(name), is NaN, which has no place in a predicate")
    }
    guard let fitting = specifier.expression(expression) else {
      throw failure("argument \(used), for \(name), is \(expression); pass \(specifier.expected)")
    }
    return fitting
  }
}

extension FormatSpecifier {
  /// Converts the argument for the specifier; `nil` if its type does not fit.
  fileprivate func expression(_ argument: FetchExpression) -> FetchExpression? {
    switch (self, argument) {
    case (.any, _): argument
    case (.keyPath, .path), (.keyPath, .value(.string)): argument
    case (.text, .value(.string)): argument
    case (.double, .value(.double)): argument
    case (.double, .value(.int64(let number))): .value(.double(Double(number)))
    case (.integer, .value(.int64)), (.decimalInteger, .value(.int64)), (.long, .value(.int64)),
      (.longLong, .value(.int64)), (.unsigned, .value(.int64)):
      argument
    case (.integer, .value(.bool(let flag))), (.decimalInteger, .value(.bool(let flag))):
      .value(.int64(flag ? 1 : 0))
    default: nil
    }
  }

  fileprivate var expected: String {
    switch self {
    case .any: "a value"
    case .keyPath: "the name of an attribute or a key path"
    case .text: "a text"
    case .double: "a number"
    case .integer, .decimalInteger, .long, .longLong, .unsigned: "an integer, or use %@"
    }
  }
}

extension FetchExpression {
  /// True if a constant in the expression is NaN, which can be neither stored nor searched for.
  var hasNotANumber: Bool {
    if case .value(let value) = self { return value.isNotANumber }
    return parts.contains(where: \.hasNotANumber)
  }
}
