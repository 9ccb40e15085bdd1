import EntityModel
import Foundation
import TextFormats

/// Rows of a table as a JSON array, which `json_populate_recordset` reads.
struct RowWriter {
  let shape: TableShape
  private var json = JSONWriter()
  private(set) var count = 0

  /// The rows, and the bytes, after which a statement is sent.
  private static let rowsMax = 1_000
  private static let bytesMax = 1 << 20

  init(_ shape: TableShape) {
    self.shape = shape
    json.bytes = [UInt8(ascii: "[")]
  }

  var isEmpty: Bool { count == 0 }
  var isFull: Bool { count >= Self.rowsMax || json.bytes.count >= Self.bytesMax }

  /// Returns the array, and begins another one.
  mutating func take() -> String {
    json.bytes.append(UInt8(ascii: "]"))
    let text = String(decoding: json.bytes, as: UTF8.self)
    json.truncate(to: 1)
    count = 0
    return text
  }

  /// Appends a row.
  ///
  /// - Parameter values: The values by attribute position.
  /// - Parameter links: Returns the ids of the records that a relationship leads to.
  mutating func append(
    id: Int64, _ values: [Value], links: (_ relationship: String) throws -> [Int64]
  ) rethrows {
    count += 1
    json.begin(nil)
    json.bytes.append(UInt8(ascii: "{"))
    json.literal("_id", String(id))
    var unrepresentable: [String] = []
    for column in shape.columns {
      switch column.source {
      case .attribute(let position):
        if !write(values[position], column.name) { unrepresentable.append(column.name) }
      case .links:
        let linked = try links(column.name)
        json.array(column.name) { for id in linked { $0.literal(nil, String(id)) } }
      }
    }
    if !unrepresentable.isEmpty {
      json.array("_unrepresentable") { for name in unrepresentable { $0.string(nil, name) } }
    }
    json.bytes.append(UInt8(ascii: "}"))
  }

  /// Writes a value; nothing for null.
  ///
  /// - Returns: False, and nothing is written, if PostgreSQL has no such value.
  private mutating func write(_ value: Value, _ name: String) -> Bool {
    switch value {
    case .null: break
    case .int64(let number): json.literal(name, String(number))
    case .double(let number):
      if number.isFinite {
        json.literal(name, "\(number)")
      } else {
        json.string(name, number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
      }
    case .decimal(let number): json.string(name, "\(number)")
    case .bool(let bool): json.bool(name, bool)
    case .string(let text): return write(text, name)
    case .url(let url): return write(url.absoluteString, name)
    case .date(let date):
      guard let text = TimestampText.of(date) else { return false }
      json.string(name, text)
    case .uuid(let uuid): json.string(name, uuid.uuidString)
    case .data(let data): json.string(name, utf8: Self.hexadecimal(data))
    case .strings(let texts):
      guard !texts.contains(where: Self.hasZero) else { return false }
      json.array(name) { for text in texts { $0.string(nil, text) } }
    }
    return true
  }

  private mutating func write(_ text: String, _ name: String) -> Bool {
    guard !Self.hasZero(text) else { return false }
    json.string(name, text)
    return true
  }

  /// A text of PostgreSQL has no U+0000.
  private static func hasZero(_ text: String) -> Bool { text.utf8.contains(0) }

  /// Returns the bytes in the text form of `bytea`, `\x0a1b…`.
  private static func hexadecimal(_ data: Data) -> [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    var text = Array("\\x".utf8)
    text.reserveCapacity(2 + 2 * data.count)
    for byte in data {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return text
  }
}
