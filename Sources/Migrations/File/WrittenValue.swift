import EntityModel
import EntityObjects
import EntityStore
import Foundation

/// A value of a file is read before anybody knows what attribute it is for; here it is fitted.
extension Value {
  /// The value in the kind of an attribute: an integer serves for a double or a decimal, the name
  /// of a case for an enumeration, a text for whatever has a text form.
  ///
  /// - Returns: `nil` if it does not fit.
  func written(for attribute: AttributeDescription) -> Value? {
    if attribute.type == .data, case .string(let text) = self {
      return Value(text: text, as: .data, now: .distantPast)
    }
    return fitted(to: attribute)
  }
}

extension AttributeAssignment {
  /// The assignment with its constant, if it has one, in the kind of the attribute.
  ///
  /// - Throws: `migration` if the constant does not fit; it may still break a rule.
  func fitted(to attribute: AttributeDescription) throws(StoreError) -> AttributeAssignment {
    switch self {
    case .now:
      guard attribute.type == .date else {
        throw .misfit("now", attribute, advice: "now is for dates; write { expression: \"'now'\" }")
      }
      return self
    case .expression(.value(let value)):
      guard let fitted = value.written(for: attribute) else {
        throw .misfit(value.text, attribute)
      }
      return .value(fitted)
    case .expression: return self
    }
  }
}

extension StoreError {
  /// - Parameter value: As text.
  static func misfit(
    _ value: String, _ attribute: AttributeDescription, advice: String? = nil
  ) -> StoreError {
    StoreError(
      .migration, "a value does not fit the attribute that it is for",
      [("attribute", attribute.name), ("type", attribute.type.name), ("value", value)],
      advice: advice
        ?? (attribute.type == .string
          ? "write a text of digits, true or false in quotes" : "give it a value of that type"))
  }
}
