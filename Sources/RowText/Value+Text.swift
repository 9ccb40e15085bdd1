public import EntityModel

extension Value {
  /// An attribute's value: numbers and flags as JSON has them, a list as an array, null as `null`,
  /// and all else as the text that people read (dates as RFC 3339, data as base64). A decimal is
  /// text, because readers make a double of a number.
  public var json: String {
    switch self {
    case .null: "null"
    case .int64(let number): String(number)
    case .double(let number): JSONLiteral.of(number)
    case .bool(let flag): flag ? "true" : "false"
    case .strings(let list): "[" + list.map(JSONLiteral.quoted).joined(separator: ",") + "]"
    case .decimal, .string, .date, .uuid, .data, .url: JSONLiteral.quoted(text)
    }
  }

  /// A field of CSV: as `text`; `nil` for a missing value, which is no empty text.
  public var csvField: String? { isNull ? nil : text }
}
