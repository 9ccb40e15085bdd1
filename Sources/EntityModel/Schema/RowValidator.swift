import Foundation

/// The validators of all attributes of an entity, for rows with one value per attribute.
///
/// Keep it within one isolation domain, as its validators.
public struct RowValidator {
  /// What settles most values without a look at the rules of their attributes.
  private struct Expectation {
    let kind: ValueKind
    let isOptional: Bool
    let hasRules: Bool

    /// - Returns: `false` also for a value that only its rules can judge.
    @inline(__always)
    func isSurelyMet(by value: Value) -> Bool {
      if hasRules { return false }
      // In one switch no payload is retained, as it would be to ask for the kind and then for NaN.
      return switch value {
      case .null: isOptional
      case .int64: kind == .int64
      case .double(let number): kind == .double && !number.isNaN
      case .decimal(let number): kind == .decimal && !number.isNaN
      case .bool: kind == .bool
      case .string: kind == .string
      case .date(let date): kind == .date && !date.timeIntervalSinceReferenceDate.isNaN
      case .uuid: kind == .uuid
      case .data: kind == .data
      case .url: kind == .url
      case .strings: kind == .strings
      }
    }
  }

  private let expectations: [Expectation]
  private let validators: [AttributeValidator]

  /// - Throws: What `Regex` says of an unreadable pattern.
  public init(_ attributes: [AttributeDescription]) throws {
    validators = try attributes.map { try AttributeValidator($0) }
    expectations = attributes.map {
      Expectation(
        kind: $0.type.kind, isOptional: $0.isOptional, hasRules: $0.validation != .none)
    }
  }

  /// The validator of the attribute at a position.
  public subscript(position: Int) -> AttributeValidator { validators[position] }

  /// - Parameter row: One value per attribute, by position.
  /// - Parameter keepsRules: Whether values must keep the rules of their attributes: range, length
  ///   and pattern. That there is a value, and of the right kind, is always required.
  /// - Returns: The first value that may not stand in the row; `nil` if all may.
  public func failure(
    in row: [Value], keepsRules: Bool = true
  ) -> (position: Int, failure: ValidationFailure)? {
    row.withUnsafeBufferPointer { row in
      for position in expectations.indices {
        // In place, as below.
        if expectations[position].isSurelyMet(by: row[position]) { continue }
        if let failure = failure(of: row[position], at: position, keepsRules: keepsRules) {
          return (position, failure)
        }
      }
      return nil
    }
  }

  /// As `failure(in:keepsRules:)`, for the values that change.
  package func failure(
    in changes: RowChanges, keepsRules: Bool
  ) -> (position: Int, failure: ValidationFailure)? {
    changes.entries.withUnsafeBufferPointer { entries in
      for number in entries.indices {
        // In place: a copy would retain and release what the value holds.
        let position = entries[number].position
        if expectations[position].isSurelyMet(by: entries[number].value) { continue }
        if let failure = failure(of: entries[number].value, at: position, keepsRules: keepsRules) {
          return (position, failure)
        }
      }
      return nil
    }
  }

  /// Why a value may not stand at a position; `nil` if it may. As `failure(in:keepsRules:)`.
  @inline(__always)
  public func failure(
    of value: Value, at position: Int, keepsRules: Bool = true
  ) -> ValidationFailure? {
    if expectations[position].isSurelyMet(by: value) { return nil }
    guard let failure = validators[position].failure(of: value),
      keepsRules || !failure.isOfRule
    else { return nil }
    return failure
  }
}

extension ValidationFailure {
  /// Whether a rule of the attribute is broken, and not what a store itself relies on.
  fileprivate var isOfRule: Bool {
    switch self {
    case .required, .wrongKind, .notANumber: false
    case .belowMinimum, .aboveMaximum, .tooLong, .noMatch: true
    }
  }
}
