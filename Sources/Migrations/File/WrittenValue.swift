import EntityModel
import EntityObjects
import EntityStore
import Foundation

/// Converts values of a file to the kind of their attribute, which is not known while the file is
/// read.
extension Value {
  /// Returns the value in the kind of an attribute. An integer is accepted for a double or a
  /// decimal, the name of a case for an enumeration, and a text for every kind that has a text
  /// form.
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
  /// Returns the assignment with its constant, if it has one, in the kind of the attribute.
  ///
  /// - Throws: `migration` if the constant does not fit. Rules of the attribute are not checked
  ///   here.
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
  /// Returns the error for a value that does not fit an attribute.
  ///
  /// - Parameter value: The value as text.
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
