import Foundation

/// A word that says what the quoted text behind it is. `DATE "…"` is a literal, `date` alone an
/// attribute. Texts alone already fit attributes of these types; the words keep the tree's type
/// where a predicate is printed.
enum TypedLiteral: String {
  case date, uuid, decimal, data, url, double, object

  /// The value; `nil` if the text is not of that type. May be NaN.
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

  /// The text that reads back to the very same bits.
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
    // A format has no time of its own: "now" is no date in it.
    guard text != "now", case .date(let date)? = Value(text: text, as: .date, now: .distantPast)
    else { return nil }
    return date
  }
}

extension ObjectID {
  /// Reads `description` back. An entity's name may hold anything; the number is behind the last
  /// slash.
  fileprivate init?(text: String) {
    guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")),
      let number = Int64(text[text.utf8.index(after: slash)...])
    else { return nil }
    self.init(entity: String(text[..<slash]), number: number)
  }
}
