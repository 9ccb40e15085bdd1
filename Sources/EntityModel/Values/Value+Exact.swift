import Foundation
import TextFormats

// The form of values in dumps, from which the same values are read: `json` rounds dates to
// microseconds and has no infinities.
extension Value {
  /// The value as JSON that reads back as the same value. It is that of ``json``, except that
  /// infinities and -0 are strings, and that a date between two microseconds is a number of seconds
  /// since 2001, such as `"801.0000001s"`.
  package var exactJSON: String {
    switch self {
    case .double(let number) where !number.isFinite || number.sign == .minus && number == 0:
      JSONLiteral.quoted("\(number)")
    case .date(let date) where Value(exactText: text, as: .date) != self:
      JSONLiteral.quoted("\(date.timeIntervalSinceReferenceDate)s")
    default: json
    }
  }

  /// Reads the text of a string of ``exactJSON``.
  ///
  /// - Returns: `nil` if the text is not a value of that kind.
  package init?(exactText text: String, as kind: ValueKind) {
    let value: Value? =
      switch kind {
      case .string: .string(text)
      case .double: Double(text).flatMap { $0.isNaN ? nil : .double($0) }
      case .decimal: Value.decimal(of: text)
      case .date: Value.date(exactly: text)
      case .uuid: UUID(uuidString: text).map(Value.uuid)
      case .data: Data(base64Encoded: text).map(Value.data)
      case .url: URL(string: text).map(Value.url)
      case .int64, .bool, .strings: nil
      }
    guard let value else { return nil }
    self = value
  }

  private static func date(exactly text: String) -> Value? {
    if let date = DateText.rfc3339(text) { return .date(date) }
    guard text.hasSuffix("s"), let seconds = Double(text.dropLast()), !seconds.isNaN else {
      return nil
    }
    return .date(Date(timeIntervalSinceReferenceDate: seconds))
  }
}
