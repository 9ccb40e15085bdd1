public import ArgumentParser
import TextFormats

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
    var names = formats.dropLast().map(\.rawValue).joined(separator: ", ")
    if let last = formats.last { names += (names.isEmpty ? "" : " or ") + last.rawValue }
    throw ValidationError("the format \(rawValue) does not fit here; use \(names)")
  }
}

extension StandardOutput {
  /// Writes one record of comma-separated values, ended by CRLF (RFC 4180, section 2).
  ///
  /// A missing value is an empty field and empty text is `""`, so both can be told apart.
  public mutating func writeCSV(_ fields: [String?]) throws {
    try write(CSVRecord.text(fields))
  }

  /// Writes a JSON string with its quotes; what steers a terminal is escaped.
  public mutating func writeJSON(_ text: String) throws { try write(JSONLiteral.quoted(text)) }

  public mutating func writeJSON(_ number: Int64) throws { try write(String(number)) }

  public mutating func writeJSON(_ flag: Bool) throws { try write(flag ? "true" : "false") }

  /// Writes a number that reads back as the same double; an infinity or NaN as `null`.
  public mutating func writeJSON(_ number: Double) throws { try write(JSONLiteral.of(number)) }
}
