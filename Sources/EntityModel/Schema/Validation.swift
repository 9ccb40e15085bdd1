import Foundation

/// The rules that a value of an attribute must keep. Null is not subject to them.
public struct Validation: Codable, Hashable, Sendable {
  /// Least and greatest allowed value, of the attribute's kind.
  public var min: Value
  public var max: Value
  /// In characters for strings and URLs, in bytes for data, in elements for lists.
  public var maxLength: Int?
  /// A regular expression (Swift's dialect) that the whole string, or each element, must match.
  public var pattern: String?

  public static let none = Validation()

  public init(
    min: Value = .null, max: Value = .null, maxLength: Int? = nil, pattern: String? = nil
  ) {
    self.min = min
    self.max = max
    self.maxLength = maxLength
    self.pattern = pattern
  }
}

/// The rule that a value breaks.
public enum ValidationFailure: Error, Hashable, Sendable, CustomStringConvertible {
  case required
  case wrongKind(expected: ValueKind, found: ValueKind)
  case notANumber
  case belowMinimum(Value)
  case aboveMaximum(Value)
  case tooLong(maximum: Int)
  case noMatch(pattern: String)

  public var description: String {
    switch self {
    case .required: "a value is required"
    case .wrongKind(let expected, let found): "expected \(expected.rawValue), got \(found.rawValue)"
    case .notANumber: "not a number (NaN) cannot be stored"
    case .belowMinimum(let minimum): "less than the minimum \(minimum.text)"
    case .aboveMaximum(let maximum): "more than the maximum \(maximum.text)"
    case .tooLong(let maximum): "longer than \(maximum)"
    case .noMatch(let pattern): "does not match /\(pattern)/"
    }
  }
}

/// The validation of one attribute, prepared once and applied to many values.
///
/// A compiled pattern is not `Sendable`; keep a validator within one isolation domain.
public struct AttributeValidator {
  private let kind: ValueKind
  private let isOptional: Bool
  private let rules: Validation
  private let regex: Regex<AnyRegexOutput>?

  /// - Throws: What `Regex` says of an unreadable pattern.
  public init(_ attribute: AttributeDescription) throws {
    kind = attribute.type.kind
    isOptional = attribute.isOptional
    rules = attribute.validation
    regex = try attribute.validation.pattern.map { try Regex($0) }
  }

  /// - Returns: The first rule that the value breaks, `nil` if it keeps them all.
  public func failure(of value: Value) -> ValidationFailure? {
    guard let found = value.kind else { return isOptional ? nil : .required }
    if found != kind { return .wrongKind(expected: kind, found: found) }
    if value.isNotANumber { return .notANumber }
    if rules == .none { return nil }
    if !rules.min.isNull, value.compared(with: rules.min) == .ascending {
      return .belowMinimum(rules.min)
    }
    if !rules.max.isNull, value.compared(with: rules.max) == .descending {
      return .aboveMaximum(rules.max)
    }
    if let maximum = rules.maxLength, length(of: value) > maximum {
      return .tooLong(maximum: maximum)
    }
    if let pattern = rules.pattern, !matches(value) { return .noMatch(pattern: pattern) }
    return nil
  }

  private func length(of value: Value) -> Int {
    switch value {
    case .string(let text): text.count
    case .url(let url): url.absoluteString.count
    case .data(let data): data.count
    case .strings(let list): list.count
    default: 0
    }
  }

  private func matches(_ value: Value) -> Bool {
    guard let regex else { return true }
    let texts: [String] =
      switch value {
      case .string(let text): [text]
      case .url(let url): [url.absoluteString]
      case .strings(let list): list
      default: []
      }
    // A match that fails for another reason is a refusal, too: because of that no error is lost.
    return texts.allSatisfy { (try? regex.wholeMatch(in: $0)) != nil }
  }
}
