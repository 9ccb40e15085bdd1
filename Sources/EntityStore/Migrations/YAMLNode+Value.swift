import EntityModel
import Foundation
import StrictYAML

extension YAMLNode {
  /// The value of an attribute: a plain number or word where the kind has one, a list, or else its
  /// text form.
  ///
  /// - Parameter now: What the word `now` stands for in a date.
  func value(_ kind: ValueKind, now: Date) throws -> Value {
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
}
