public import ArgumentParser

/// How a command prints its data.
public enum OutputFormat: String, CaseIterable, Sendable, ExpressibleByArgument {
  /// Aligned columns for people; not for programs.
  case table
  /// One JSON document.
  case json
  /// One JSON object on each line.
  case jsonl
  /// RFC 4180, with a line of titles.
  case csv
}

extension OutputFormat {
  /// For a command that does not print in every format, in its `validate()`.
  ///
  /// - Throws: `ValidationError` that names those it has.
  public func require(_ formats: OutputFormat...) throws {
    guard !formats.contains(self) else { return }
    let names = formats.map(\.rawValue).joined(separator: " or ")
    throw ValidationError("the format \(rawValue) does not fit here; use \(names)")
  }
}

extension StandardOutput {
  /// Writes one record of comma-separated values, ended by CRLF (RFC 4180, section 2).
  ///
  /// A missing value is an empty field and empty text is `""`, so both can be told apart.
  public mutating func writeCSV(_ fields: [String?]) throws {
    var row = ""
    for (index, field) in fields.enumerated() {
      if index > 0 { row += "," }
      if let field { appendCSV(field, to: &row) }
    }
    try write(row + "\r\n")
  }

  /// Writes a JSON string with its quotes (RFC 8259, section 7).
  ///
  /// Escaped are quotes, backslashes and the characters below U+0020, as must be, and those that
  /// steer a terminal as well: U+007F to U+009F.
  public mutating func writeJSON(_ text: String) throws {
    var literal = ""
    appendJSON(text, to: &literal)
    try write(literal)
  }

  public mutating func writeJSON(_ number: Int64) throws { try write(String(number)) }

  public mutating func writeJSON(_ flag: Bool) throws { try write(flag ? "true" : "false") }

  /// Writes a number that reads back as the same double; JSON has no infinities and no NaN, so
  /// these become `null`.
  public mutating func writeJSON(_ number: Double) throws {
    try write(number.isFinite ? "\(number)" : "null")
  }
}

private func appendCSV(_ field: String, to row: inout String) {
  let needsQuotes =
    field.isEmpty
    || field.utf8.contains { byte in
      byte == UInt8(ascii: ",") || byte == UInt8(ascii: "\"") || byte == 0x0A || byte == 0x0D
    }
  guard needsQuotes else {
    row += field
    return
  }
  row += "\""
  for scalar in field.unicodeScalars {
    if scalar == "\"" { row += "\"" }
    row.unicodeScalars.append(scalar)
  }
  row += "\""
}

private func appendJSON(_ text: String, to literal: inout String) {
  let needsEscapes = text.utf8.contains { byte in
    // U+0080 to U+009F begin with C2.
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") || byte == 0x7F
      || byte == 0xC2
  }
  literal += "\""
  if needsEscapes {
    for scalar in text.unicodeScalars { appendEscaped(scalar, to: &literal) }
  } else {
    literal += text
  }
  literal += "\""
}

private func appendEscaped(_ scalar: Unicode.Scalar, to literal: inout String) {
  switch scalar {
  case "\"": literal += "\\\""
  case "\\": literal += "\\\\"
  case "\n": literal += "\\n"
  case "\r": literal += "\\r"
  case "\t": literal += "\\t"
  case "\u{00}"..."\u{0F}": literal += "\\u000" + String(scalar.value, radix: 16)
  case "\u{10}"..."\u{1F}", "\u{7F}"..."\u{9F}":
    literal += "\\u00" + String(scalar.value, radix: 16)
  default: literal.unicodeScalars.append(scalar)
  }
}
