public import Foundation
package import TextFormats

extension Value {
  /// The value as people read and enter it: dates as RFC 3339 in UTC, data as base64, lists joined
  /// by commas, null as `null`.
  public var text: String {
    switch self {
    case .null: "null"
    case .int64(let value): String(value)
    case .double(let value): value.description
    case .decimal(let value): value.description
    case .bool(let value): value ? "true" : "false"
    case .string(let value): value
    case .date(let value): Value.text(of: value)
    case .uuid(let value): value.uuidString
    case .data(let value): value.base64EncodedString()
    case .url(let value): value.absoluteString
    case .strings(let value): value.joined(separator: ", ")
    }
  }

  /// Reads the text form of one value.
  ///
  /// - Parameter text: The form that `Value.text` writes. `null` is null for every type except
  ///   string and URL, for which it is a text; a caller passes null itself there.
  /// - Parameter now: The date that the word `now` stands for.
  /// - Returns: `nil` if the text is not a value of that kind.
  public init?(text: String, as kind: ValueKind, now: Date) {
    if text == "null", kind != .string, kind != .url {
      self = .null
      return
    }
    let parsed: Value? =
      switch kind {
      case .int64: Int64(text).map(Value.int64)
      case .double: Double(text).flatMap { $0.isFinite ? .double($0) : nil }
      case .decimal: Value.decimal(of: text)
      case .bool: Bool(text).map(Value.bool)
      case .string: .string(text)
      case .date: Value.date(of: text, now: now)
      case .uuid: UUID(uuidString: text).map(Value.uuid)
      case .data: Data(base64Encoded: text).map(Value.data)
      case .url: URL(string: text).map(Value.url)
      case .strings: .strings(Value.elements(of: text))
      }
    guard let parsed else { return nil }
    self = parsed
  }

  /// Writes a date as RFC 3339 in UTC, with as many fractional digits as distinguish it from its
  /// neighbours (at most microseconds); outside of the years 1 to 9999 as seconds since 2001.
  private static func text(of date: Date) -> String {
    let seconds = date.timeIntervalSinceReferenceDate
    guard seconds > -63_114_076_800, seconds < 252_423_993_600 else { return "\(seconds)s" }
    return DateText.rfc3339(seconds: seconds, zoneMinutes: nil)
  }

  private static func date(of text: String, now: Date) -> Value? {
    if text == "now" { return .date(now) }
    if text.hasSuffix("s"), let seconds = Double(text.dropLast()), seconds.isFinite {
      return .date(Date(timeIntervalSinceReferenceDate: seconds))
    }
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
    return (try? style.parse(text)).map(Value.date)  // because a text that is no date is `nil` here
  }

  static func decimal(of text: String) -> Value? {
    // Decimal(string:) accepts a valid prefix, so the whole text is checked first. The greatest
    // decimal has 39 digits and 127 zeros, the least one 128 fractional digits.
    guard text.wholeMatch(of: /-?[0-9]{1,166}(\.[0-9]{1,166})?/) != nil,
      let decimal = Decimal(string: text)
    else { return nil }
    return .decimal(decimal)
  }

  private static func elements(of text: String) -> [String] {
    text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
  }
}

extension Value {
  /// The value as JSON: numbers and booleans unquoted, a list as an array, null as `null`, and all
  /// others as a string with their ``text`` (dates as RFC 3339, data as base64). A decimal is a
  /// string, because readers convert a number to a double. Hidden characters are escaped.
  public var json: String { json(.hidden) }

  /// Returns the value as JSON, with the given escapes in its texts.
  package func json(_ escaping: JSONLiteral.Escaping) -> String {
    switch self {
    case .null: "null"
    case .int64(let number): String(number)
    case .double(let number): JSONLiteral.of(number)
    case .bool(let flag): flag ? "true" : "false"
    case .strings(let list):
      "[" + list.map { JSONLiteral.quoted($0, escaping) }.joined(separator: ",") + "]"
    case .decimal, .string, .date, .uuid, .data, .url: JSONLiteral.quoted(text, escaping)
    }
  }

  /// The value as a CSV field: its ``text``, or `nil` for null, which differs from an empty text.
  public var csvField: String? { isNull ? nil : text }
}
