/// Writes JSON text piece by piece, commas included. The caller keeps the nesting right.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []
  private var needsComma = false

  mutating func object(_ key: String? = nil, _ body: (inout JSONWriter) -> Void) {
    container(key, "{", "}", body)
  }

  mutating func array(_ key: String? = nil, _ body: (inout JSONWriter) -> Void) {
    container(key, "[", "]", body)
  }

  mutating func string(_ key: String? = nil, _ value: String) {
    begin(key)
    quote(value)
  }

  mutating func integer(_ key: String? = nil, _ value: Int) {
    begin(key)
    bytes.append(contentsOf: String(value).utf8)
  }

  mutating func bool(_ key: String? = nil, _ value: Bool) {
    begin(key)
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  /// A number of hundredths, such as 0.42.
  mutating func hundredths(_ key: String, _ value: Int) {
    begin(key)
    bytes.append(contentsOf: "\(value / 100).\(value % 100 < 10 ? "0" : "")\(value % 100)".utf8)
  }

  mutating func null(_ key: String) {
    begin(key)
    bytes.append(contentsOf: "null".utf8)
  }

  private mutating func container(
    _ key: String?, _ open: Unicode.Scalar, _ close: Unicode.Scalar,
    _ body: (inout JSONWriter) -> Void
  ) {
    begin(key)
    bytes.append(UInt8(ascii: open))
    needsComma = false
    body(&self)
    bytes.append(UInt8(ascii: close))
    needsComma = true
  }

  private mutating func begin(_ key: String?) {
    if needsComma { bytes.append(UInt8(ascii: ",")) }
    needsComma = true
    guard let key else { return }
    quote(key)
    bytes.append(UInt8(ascii: ":"))
  }

  private mutating func quote(_ text: String) {
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"):
        bytes.append(UInt8(ascii: "\\"))
        bytes.append(byte)
      case 0..<0x20:
        let digits = String(byte, radix: 16)
        bytes.append(contentsOf: "\\u00\(digits.count == 1 ? "0" : "")\(digits)".utf8)
      default:
        bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
  }
}
