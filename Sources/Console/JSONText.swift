public import EntityModel
import Foundation

/// JSON that scripts can rely on: keys in order, dates as RFC 3339 in UTC.
public enum JSONText {
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
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }
}

extension StandardOutput {
  /// Writes an attribute's value: numbers and flags as JSON has them, a list as an array, null as
  /// `null`, and all else as the text that people read (dates as RFC 3339, data as base64). A
  /// decimal is text, because readers make a double of a number.
  public mutating func writeJSON(_ value: Value) throws {
    switch value {
    case .null: try write("null")
    case .int64(let number): try writeJSON(number)
    case .double(let number): try writeJSON(number)
    case .bool(let flag): try writeJSON(flag)
    case .strings(let list):
      try write("[")
      for (index, element) in list.enumerated() {
        if index > 0 { try write(",") }
        try writeJSON(element)
      }
      try write("]")
    case .decimal, .string, .date, .uuid, .data, .url: try writeJSON(value.text)
    }
  }
}
