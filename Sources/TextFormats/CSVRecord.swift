/// One line of comma-separated values (RFC 4180, section 2).
package enum CSVRecord {
  /// The treatment of texts that a spreadsheet or a terminal would not take for texts.
  package enum Form: Sendable {
    /// For spreadsheets: a text that would be read as a formula gets an apostrophe before it
    /// (CWE-1236), and a control character other than a tab and line breaks becomes U+FFFD.
    case spreadsheet
    /// Each text as it is, for programs.
    case exact
  }

  /// Returns the line, ended by CRLF. A missing value is an empty field and an empty text is `""`,
  /// so that a reader can distinguish them.
  package static func text(_ fields: [String?], _ form: Form) -> String {
    var row = ""
    for (index, field) in fields.enumerated() {
      if index > 0 { row += "," }
      if let field { append(form == .spreadsheet ? harmless(field) : field, to: &row) }
    }
    return row + "\r\n"
  }

  private static func append(_ field: String, to row: inout String) {
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

  // MARK: Spreadsheets

  private static func harmless(_ field: String) -> String {
    let isFormula = beginsFormula(field) && !isNumber(field)
    guard isFormula || field.unicodeScalars.contains(where: isReplaced) else { return field }
    var text = isFormula ? "'" : ""
    for scalar in field.unicodeScalars {
      text.unicodeScalars.append(isReplaced(scalar) ? "\u{FFFD}" : scalar)
    }
    return text
  }

  /// Returns true for the beginnings that OWASP lists (CSV Injection), and for their full-width
  /// forms, which some input methods write.
  private static func beginsFormula(_ field: String) -> Bool {
    switch field.unicodeScalars.first {
    case "=", "+", "-", "@", "\t", "\r", "\n", "\0", "\u{FF1D}", "\u{FF0B}", "\u{FF0D}", "\u{FF20}":
      true
    default: false
    }
  }

  /// Returns true for a number such as `-5`, `+0.25` or `-1.5e-7`, which is no formula.
  private static func isNumber(_ field: String) -> Bool {
    field.utf8.allSatisfy { byte in
      (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || "+-.eE".utf8.contains(byte)
    } && Double(field)?.isFinite == true
  }

  private static func isReplaced(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x09, 0x0A, 0x0D: false
    case 0x00...0x1F, 0x7F...0x9F: true
    default: false
    }
  }
}
