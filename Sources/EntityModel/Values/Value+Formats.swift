import TextFormats

extension Value {
  /// The value as JSON: numbers and flags as such, a list as an array, null as `null`, and all else as
  /// a string of ``text`` (dates as RFC 3339, data as base64). A decimal is a string, because readers
  /// convert a number to a double.
  public var json: String {
    switch self {
    case .null: "null"
    case .int64(let number): String(number)
    case .double(let number): JSONLiteral.of(number)
    case .bool(let flag): flag ? "true" : "false"
    case .strings(let list): "[" + list.map { JSONLiteral.quoted($0) }.joined(separator: ",") + "]"
    case .decimal, .string, .date, .uuid, .data, .url: JSONLiteral.quoted(text)
    }
  }

  /// The value as a field of CSV: ``text``, or `nil` for null, which is not the same as empty text.
  public var csvField: String? { isNull ? nil : text }
}
