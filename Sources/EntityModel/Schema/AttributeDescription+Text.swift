public import Foundation

extension AttributeDescription {
  /// A value of this attribute as people type it: `Value.text`, or the name of an enumeration's case.
  ///
  /// - Parameter now: What the word `now` stands for in a date.
  /// - Returns: `nil` if the text is no value of the attribute's type. `null` is no value where the
  ///   attribute may be without one; where it must have one it may be a text of that name.
  public func value(of text: String, now: Date) -> Value? {
    if case .enumeration(let enumeration) = type,
      let named = enumeration.cases.first(where: { $0.name == text })
    {
      return named.rawValue
    }
    if text == "null", isOptional { return .null }
    return Value(text: text, as: type.kind, now: now)
  }
}
