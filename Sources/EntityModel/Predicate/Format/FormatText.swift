/// Writes names and values for a format string.
enum FormatText {
  /// Writes a path, with marks where it would be taken for something else: `#in`, `#"a b"`.
  static func path(_ path: String) -> String {
    let names = path.split(separator: ".", omittingEmptySubsequences: false)
    guard names.allSatisfy({ String($0).isFormatName }) else { return "#" + quoted(path) }
    return (ReservedWord(String(names[0])) == nil ? "" : "#") + path
  }

  static func literal(_ value: Value) -> String {
    switch value {
    case .null: "nil"
    case .int64(let number): String(number)
    case .double(let number): number.isFinite ? "\(number)" : "DOUBLE \"\(number)\""
    case .decimal(let number): "DECIMAL \"\(number)\""
    case .bool(let flag): flag ? "TRUE" : "FALSE"
    case .string(let text): quoted(text)
    case .date(let date): "DATE \"\(TypedLiteral.text(of: date))\""
    case .uuid, .data: "\(value.kind == .uuid ? "UUID" : "DATA") \"\(value.text)\""
    case .url: "URL " + quoted(value.text)
    case .strings(let texts): "STRINGS {" + texts.map(quoted).joined(separator: ", ") + "}"
    }
  }

  /// Writes a text in quotes, with escapes for control characters.
  static func quoted(_ text: String) -> String {
    var shown = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\\": shown += #"\\"#
      case "\"": shown += #"\""#
      case "\n": shown += #"\n"#
      case "\t": shown += #"\t"#
      case "\r": shown += #"\r"#
      case "\0"..."\u{1F}", "\u{7F}"..."\u{9F}":
        let digits = String(scalar.value, radix: 16)
        shown += #"\u"# + String(repeating: "0", count: 4 - digits.count) + digits
      default: shown.unicodeScalars.append(scalar)
      }
    }
    return "\"" + shown + "\""
  }
}
