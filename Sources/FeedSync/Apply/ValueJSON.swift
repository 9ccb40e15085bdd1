import EntityModel
import Foundation
import TextFormats

extension [UInt8] {
  /// Appends a JSON object of values, each in the form that `Value` encodes.
  ///
  /// The bytes are those of `JSONEncoder` with sorted names, at a tenth of its cost: a feed may
  /// have user values for every item.
  ///
  /// - Throws: `EncodingError` for a number that JSON does not have.
  mutating func appendJSON(_ values: [String: Value]) throws {
    append(UInt8(ascii: "{"))
    var isFirst = true
    for (name, value) in values.sorted(by: { $0.key < $1.key }) {
      if !isFirst { append(UInt8(ascii: ",")) }
      isFirst = false
      try appendJSONName(name)
      append(UInt8(ascii: ":"))
      try appendJSON(value)
    }
    append(UInt8(ascii: "}"))
  }

  /// Appends a value in the form that it encodes.
  mutating func appendJSON(_ value: Value) throws {
    switch value {
    case .null: append("null")
    case .int64(let number): appendMember("{\"int64\":", number)
    case .bool(let flag): append(flag ? "{\"bool\":true}" : "{\"bool\":false}")
    case .double(let number) where number.isFinite: appendMember("{\"double\":", number)
    case .date(let date) where date.timeIntervalSinceReferenceDate.isFinite:
      appendMember("{\"date\":", date.timeIntervalSinceReferenceDate)
    default: append(contentsOf: try JSONEncoder().encode(value))
    }
  }

  /// Appends the digits of the number, without a fraction if it is whole.
  private mutating func appendMember(_ start: StaticString, _ number: Double) {
    // Whole numbers up to 2^53 have no exponent in either form.
    if let whole = Int64(exactly: number), whole.magnitude < 1 << 53, whole != 0 {
      return appendMember(start, whole)
    }
    let text = number.description
    appendMember(start, text.hasSuffix(".0") ? String(text.dropLast(2)) : text)
  }

  private mutating func appendMember(_ start: StaticString, _ number: Int64) {
    append(start)
    appendDecimal(number)
    append(UInt8(ascii: "}"))
  }

  private mutating func appendMember(_ start: StaticString, _ text: String) {
    append(start)
    var text = text
    text.withUTF8 { append(contentsOf: $0) }
    append(UInt8(ascii: "}"))
  }

  private mutating func append(_ text: StaticString) {
    append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func appendJSONName(_ name: String) throws {
    var name = name
    let isPlain = name.withUTF8 { bytes in
      let isPlain = bytes.allSatisfy { byte in
        (0x20...0x7E).contains(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\")
          && byte != UInt8(ascii: "/")
      }
      if isPlain { appendJSONString(UnsafeRawBufferPointer(bytes)) }
      return isPlain
    }
    if !isPlain { append(contentsOf: try JSONEncoder().encode(name)) }
  }
}
