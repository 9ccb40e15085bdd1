import Foundation

/// A word that gives the type of the quoted text after it. `DATE "…"` is a literal, `date` alone an
/// attribute. A text without the word also fits attributes of these types; the word preserves the
/// type in a predicate that is printed and read back.
enum TypedLiteral: String {
  case date, uuid, decimal, data, url, double, object

  /// Converts the text; `nil` if it is not of that type. The result may be NaN.
  func expression(of text: String) -> FetchExpression? {
    switch self {
    case .date: Self.date(of: text).map { .value(.date($0)) }
    case .uuid: UUID(uuidString: text).map { .value(.uuid($0)) }
    case .decimal:
      text == "NaN" ? .value(.decimal(.nan)) : Value.decimal(of: text).map { .value($0) }
    case .data: Data(base64Encoded: text).map { .value(.data($0)) }
    case .url: URL(string: text).map { .value(.url($0)) }
    case .double: Double(text).map { .value(.double($0)) }
    case .object: ObjectID(text: text).map { .object($0) }
    }
  }

  var expected: String {
    switch self {
    case .date: "a date such as 2026-11-21T04:00:00Z, or seconds since 2001 such as 0.5s"
    case .uuid: "a UUID such as 6BA7B810-9DAD-11D1-80B4-00C04FD430C8"
    case .decimal: "a decimal number such as -12.50"
    case .data: "data in base64"
    case .url: "a URL such as https://example.org/a"
    case .double: "a number such as 0.5, or inf"
    case .object: "an entity and a number such as Episode/7"
    }
  }

  /// Writes the date so that exactly the same bits are read back.
  static func text(of date: Date) -> String {
    let text = Value.date(date).text
    let isExact =
      Self.date(of: text)?.timeIntervalSinceReferenceDate.bitPattern
      == date.timeIntervalSinceReferenceDate.bitPattern
    return isExact ? text : "\(date.timeIntervalSinceReferenceDate)s"
  }

  private static func date(of text: String) -> Date? {
    if text.hasSuffix("s") {
      return Double(text.dropLast()).map { Date(timeIntervalSinceReferenceDate: $0) }
    }
    // A format is not bound to a time, so that "now" is no date in it.
    guard text != "now", case .date(let date)? = Value(text: text, as: .date, now: .distantPast)
    else { return nil }
    return date
  }
}

extension ObjectID {
  /// Reads `description` back. An entity's name may contain any character, so the number is what
  /// follows the last slash.
  fileprivate init?(text: String) {
    guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")),
      let number = Int64(text[text.utf8.index(after: slash)...])
    else { return nil }
    self.init(entity: String(text[..<slash]), number: number)
  }
}
