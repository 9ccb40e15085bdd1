package import EntityModel
package import Foundation
package import StrictYAML

extension YAMLNode {
  /// Returns the value of an attribute: from a plain number or word where the kind has one, from a
  /// list, or else from its text form.
  ///
  /// - Parameter now: The time that the word `now` stands for in a date.
  package func value(_ kind: ValueKind, now: Date) throws -> Value {
    if isNull { return .null }
    switch kind {
    case .int64: return .int64(try int())
    case .double: return .double(try double())
    case .bool: return .bool(try bool())
    case .strings: return .strings(try sequence().map { try $0.string() })
    default:
      guard let value = Value(text: try string(), as: kind, now: now) else {
        throw error("this is not of type \(kind.rawValue)")
      }
      return value
    }
  }

  /// Returns the value of an attribute whose type the file does not state. A plain number, `true`,
  /// `false` or `null` is read as such, everything else as a text or a list of texts.
  ///
  /// `Value.fitted(to:)` converts it to the attribute's kind. A text of digits must therefore be in
  /// quotes.
  package func untypedValue() throws -> Value {
    if isNull { return .null }
    if kind == .sequence { return .strings(try sequence().map { try $0.string() }) }
    let text = try string()
    // A scalar that cannot be read in one way may be of another type.
    if let number = try? int() { return .int64(number) }
    if let number = try? double() {
      // A number that a double cannot represent exactly is a decimal.
      let decimal = Decimal(string: text)
      guard let decimal, decimal != Decimal(string: "\(number)") else { return .double(number) }
      return .decimal(decimal)
    }
    if let bool = try? bool() { return .bool(bool) }
    return .string(text)
  }
}
