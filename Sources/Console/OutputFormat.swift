public import ArgumentParser
import EntityModel
import Foundation
import TextFormats

/// The format in which a command prints its data.
public enum OutputFormat: String, CaseIterable, Sendable, ExpressibleByArgument {
  /// Aligned columns for people; not for programs.
  case table
  /// One JSON document.
  case json
  /// One JSON object on each line.
  case jsonl
  /// RFC 4180, with a line of titles, for spreadsheets: what would be a formula stays a text.
  case csv
  /// The same for programs: each text unchanged.
  case exactCSV = "csv-exact"

  /// The help of an option that takes all formats.
  public static let allHelp = ArgumentHelp(
    "table, json, jsonl, csv or csv-exact.",
    discussion: """
      csv is for spreadsheets: a text that they would take for a formula (it begins with = + - @, \
      a tab or a line break, and is no number) gets an apostrophe before it, and a control \
      character becomes U+FFFD. csv-exact is for programs and has each text as it is, as json and \
      jsonl have.
      """)
}

extension OutputFormat {
  /// Checks the format of a command that does not have them all. To be called in `validate()`.
  ///
  /// - Throws: `ValidationError` that names those it has.
  public func require(_ formats: OutputFormat...) throws {
    guard !formats.contains(self) else { return }
    var names = formats.dropLast().map(\.rawValue).joined(separator: ", ")
    if let last = formats.last { names += (names.isEmpty ? "" : " or ") + last.rawValue }
    throw ValidationError("the format \(rawValue) does not fit here; use \(names)")
  }

  /// Writes a document to standard output: as JSON, or otherwise as the closure does for people.
  public func write<Document: Encodable>(
    _ document: @autoclosure () throws -> Document,
    text: (inout StandardOutput) throws -> Void
  ) throws {
    try StandardOutput.with { output in
      if self == .json { return try output.write(try JSONText.of(try document()) + "\n") }
      try text(&output)
    }
  }
}

extension StandardOutput {
  /// Writes one record of comma-separated values, ended by CRLF (RFC 4180, section 2).
  ///
  /// A missing value is an empty field and empty text is `""`, so the two differ.
  ///
  /// - Parameter format: `.exactCSV` for texts as they are.
  public mutating func writeCSV(_ fields: [String?], as format: OutputFormat) throws {
    try write(CSVRecord.text(fields, format == .exactCSV ? .exact : .spreadsheet))
  }

  /// Writes rows of a type: in JSON with all of its members, in CSV with some.
  ///
  /// - Parameter table: The rows for people; nothing is written for nil.
  /// - Parameter fields: The fields of a row in CSV, one for each title.
  public mutating func write<Row: Encodable>(
    _ rows: [Row], as format: OutputFormat, table: @autoclosure () -> TextTable?,
    titles: [String], fields: (Row) -> [String?]
  ) throws {
    switch format {
    case .table: if let table = table() { try write(table) }
    case .json: try write(try JSONText.of(rows) + "\n")
    case .jsonl: for row in rows { try write(try JSONText.of(row) + "\n") }
    case .csv, .exactCSV:
      try writeCSV(titles, as: format)
      for row in rows { try writeCSV(fields(row), as: format) }
    }
  }
}

/// JSON with sorted keys, with dates as RFC 3339 in UTC, and with escapes for hidden characters.
public enum JSONText {
  /// Returns the value as JSON on one line.
  ///
  /// - Throws: `EncodingError`.
  public static func of(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    encoder.dateEncodingStrategy = .custom { date, encoder in
      var container = encoder.singleValueContainer()
      try container.encode(Value.date(date).text)
    }
    encoder.nonConformingFloatEncodingStrategy = .convertToString(
      positiveInfinity: "inf", negativeInfinity: "-inf", nan: "nan")
    return withoutHidden(try encoder.encode(value))
  }

  /// Returns the JSON with escapes for hidden characters: Foundation escapes only what it must.
  static func withoutHidden(_ json: Data) -> String {
    JSONLiteral.escaped(String(decoding: json, as: UTF8.self), .unquotedHidden)
  }
}
