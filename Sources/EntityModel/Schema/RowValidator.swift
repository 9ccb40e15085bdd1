import Foundation

/// The validators of all attributes of an entity, for rows with one value for each attribute.
///
/// Use it within one isolation domain only, as its validators.
public struct RowValidator {
  /// The kind that an attribute expects. It decides most values without the rules of the attribute.
  private struct Expectation {
    let kind: ValueKind
    let isOptional: Bool
    let hasRules: Bool
    /// The range of valid integers. Other rules do not concern them.
    let integers: (least: Int64, greatest: Int64)
    /// The size of texts that are surely valid: a character has at least one byte.
    let textBytesMax: Int

    init(_ attribute: AttributeDescription) {
      let rules = attribute.validation
      kind = attribute.type.kind
      isOptional = attribute.isOptional
      hasRules = rules != .none
      var integers = (least: Int64.min, greatest: Int64.max)
      if case .int64(let least) = rules.min { integers.least = least }
      if case .int64(let greatest) = rules.max { integers.greatest = greatest }
      let hasOnlyLength = rules.min.isNull && rules.max.isNull && rules.pattern == nil
      self.integers = integers
      textBytesMax = hasOnlyLength ? rules.maxLength ?? .max : -1
    }

    @inline(__always)
    func isSurelyMet(by number: Int64) -> Bool {
      kind == .int64 && number >= integers.least && number <= integers.greatest
    }

    /// - Parameter byteCount: The size of a text of this kind.
    @inline(__always)
    func isSurelyMet(by textKind: ValueKind, byteCount: Int) -> Bool {
      kind == textKind && byteCount <= textBytesMax
    }

    /// - Returns: `false` also for a value that must be checked against the rules.
    @inline(__always)
    func isSurelyMet(by value: Value) -> Bool {
      if hasRules {
        return switch value {
        case .int64(let number): isSurelyMet(by: number)
        case .string(let text): isSurelyMet(by: .string, byteCount: text.utf8.count)
        default: false
        }
      }
      // One switch retains no payload; separate checks of the kind and of NaN would.
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

  /// - Throws: The error of `Regex` for an unreadable pattern.
  public init(_ attributes: [AttributeDescription]) throws {
    validators = try attributes.map { try AttributeValidator($0) }
    expectations = attributes.map(Expectation.init)
  }

  /// Returns true if every text, URL or data of a size is valid at a position. `false` means that
  /// the value has to be checked.
  package func isSurelyValid(_ kind: ValueKind, byteCount: Int, at position: Int) -> Bool {
    expectations[position].isSurelyMet(by: kind, byteCount: byteCount)
  }

  /// Returns the validator of the attribute at a position.
  public subscript(position: Int) -> AttributeValidator { validators[position] }

  /// Finds the first value that the row may not contain.
  ///
  /// - Parameter row: One value for each attribute, by position.
  /// - Parameter keepsRules: True if values must satisfy the rules of their attributes: range,
  ///   length and pattern. A required value, and its kind, are always checked.
  /// - Returns: The first failure; `nil` if the row is valid.
  public func failure(
    in row: [Value], keepsRules: Bool = true
  ) -> (position: Int, failure: ValidationFailure)? {
    row.withUnsafeBufferPointer { row in
      for position in expectations.indices {
        // The value is read in place; see below.
        if expectations[position].isSurelyMet(by: row[position]) { continue }
        if let failure = failure(of: row[position], at: position, keepsRules: keepsRules) {
          return (position, failure)
        }
      }
      return nil
    }
  }

  /// Checks the values that change, as `failure(in:keepsRules:)` checks a row.
  package func failure(
    in changes: RowChanges, keepsRules: Bool
  ) -> (position: Int, failure: ValidationFailure)? {
    changes.entries.withUnsafeBufferPointer { entries in
      for number in entries.indices {
        // Read in place: a copy would retain and release what the value holds.
        let position = entries[number].position
        if expectations[position].isSurelyMet(by: entries[number].value) { continue }
        if let failure = failure(of: entries[number].value, at: position, keepsRules: keepsRules) {
          return (position, failure)
        }
      }
      return nil
    }
  }

  /// Returns true if the attribute at a position surely allows the number.
  package func surelyAllows(_ number: Int64, at position: Int) -> Bool {
    expectations[position].isSurelyMet(by: number)
  }

  /// Returns true if the attribute at a position surely allows a number that is no integer, or a
  /// date.
  package func surelyAllows(_ number: Double, of kind: ValueKind, at position: Int) -> Bool {
    let expectation = expectations[position]
    return expectation.kind == kind && !expectation.hasRules && !number.isNaN
  }

  /// Returns true if the attribute at a position surely allows a text or URL of this size.
  package func surelyAllowsText(of kind: ValueKind, byteCount: Int, at position: Int) -> Bool {
    expectations[position].isSurelyMet(by: kind, byteCount: byteCount)
  }

  /// Returns the reason why a value may not be at a position; `nil` if it may. See
  /// `failure(in:keepsRules:)`.
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
  /// True if the failure is a broken rule of the attribute, false if it concerns what a store
  /// itself relies on.
  fileprivate var isOfRule: Bool {
    switch self {
    case .required, .wrongKind, .notANumber: false
    case .belowMinimum, .aboveMaximum, .tooLong, .noMatch: true
    }
  }
}
