/// One line of comma-separated values (RFC 4180, section 2).
package enum CSVRecord {
  /// Returns the line, ended by CRLF. A missing value is an empty field and an empty text is `""`,
  /// so that a reader can distinguish them.
  package static func text(_ fields: [String?]) -> String {
    var row = ""
    for (index, field) in fields.enumerated() {
      if index > 0 { row += "," }
      if let field { append(field, to: &row) }
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
}
