package import EntityModel
package import Foundation
package import StrictYAML

extension YAMLNode {
  /// The value of an attribute: a plain number or word where the kind has one, a list, or else its
  /// text form.
  ///
  /// - Parameter now: What the word `now` stands for in a date.
  package func value(_ kind: ValueKind, now: Date) throws -> Value {
    if isNull { return .null }
    switch kind {
    case .int64: return .int64(try int())
    case .double: return .double(try double())
    case .bool: return .bool(try bool())
    case .strings: return .strings(try sequence().map { try $0.string() })
    default:
      guard let value = Value(text: try string(), as: kind, now: now) else {
        throw error("this is no \(kind.rawValue)")
      }
      return value
    }
  }

  /// The value of an attribute whose type the file does not say: a plain number, `true`, `false` or
  /// `null` is what it looks like, everything else is a text or a list of texts.
  ///
  /// `Value.fitted(to:)` fits it to the attribute. A text of digits therefore stands in quotes.
  package func untypedValue() throws -> Value {
    if isNull { return .null }
    if kind == .sequence { return .strings(try sequence().map { try $0.string() }) }
    let text = try string()
    if let number = scalar(int) { return .int64(number) }
    if let number = scalar(double) {
      // What a double would not give back as it was is a decimal.
      let decimal = Decimal(string: text)
      guard let decimal, decimal != Decimal(string: "\(number)") else { return .double(number) }
      return .decimal(decimal)
    }
    if let bool = scalar(bool) { return .bool(bool) }
    return .string(text)
  }

  /// - Returns: `nil` if the node cannot be read so, which is no error yet.
  private func scalar<T>(_ read: () throws(YAMLError) -> T) -> T? {
    do throws(YAMLError) {
      return try read()
    } catch {
      return nil
    }
  }
}
