import Foundation

/// The rules for the values of an attribute. They do not apply to null.
public struct Validation: Codable, Hashable, Sendable {
  /// The least and the greatest allowed value, of the attribute's kind.
  public var min: Value
  public var max: Value
  /// The greatest length: in characters for strings and URLs, in bytes for data, in elements for
  /// lists.
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
/// A compiled pattern is not `Sendable`, so use a validator within one isolation domain only.
public struct AttributeValidator {
  /// A class, because a validator is copied for each value that it checks.
  fileprivate final class Rules {
    let validation: Validation
    let regex: Regex<AnyRegexOutput>?

    init(_ validation: Validation) throws {
      self.validation = validation
      regex = try validation.pattern.map { try Regex($0) }
    }
  }

  private let kind: ValueKind
  private let isOptional: Bool
  /// The rules; `nil` if there are none, as for most attributes.
  private let rules: Rules?

  /// - Throws: The error of `Regex` for an unreadable pattern.
  public init(_ attribute: AttributeDescription) throws {
    kind = attribute.type.kind
    isOptional = attribute.isOptional
    rules = attribute.validation == .none ? nil : try Rules(attribute.validation)
  }

  /// - Returns: The first rule that the value breaks; `nil` if it satisfies all of them.
  public func failure(of value: Value) -> ValidationFailure? {
    guard let found = value.kind else { return isOptional ? nil : .required }
    if found != kind { return .wrongKind(expected: kind, found: found) }
    if value.isNotANumber { return .notANumber }
    return rules?.failure(of: value)
  }
}

extension AttributeValidator.Rules {
  fileprivate func failure(of value: Value) -> ValidationFailure? {
    let (min, max) = (validation.min, validation.max)
    if !min.isNull, value.compared(with: min) == .ascending { return .belowMinimum(min) }
    if !max.isNull, value.compared(with: max) == .descending { return .aboveMaximum(max) }
    if let maximum = validation.maxLength, isLonger(value, than: maximum) {
      return .tooLong(maximum: maximum)
    }
    if let pattern = validation.pattern, !matches(value) { return .noMatch(pattern: pattern) }
    return nil
  }

  private func isLonger(_ value: Value, than maximum: Int) -> Bool {
    switch value {
    case .string(let text): isLonger(text, than: maximum)
    case .url(let url): isLonger(url.absoluteString, than: maximum)
    case .data(let data): data.count > maximum
    case .strings(let list): list.count > maximum
    default: false
    }
  }

  private func isLonger(_ text: String, than maximum: Int) -> Bool {
    // A character has at least one byte, so usually the characters need not be counted.
    text.utf8.count > maximum && text.count > maximum
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
    // If the match itself fails with an error, the value is refused, too; the error is not
    // reported.
    return texts.allSatisfy { (try? regex.wholeMatch(in: $0)) != nil }
  }
}
