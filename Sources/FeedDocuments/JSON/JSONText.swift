/// Builds JSON text. Members and elements follow the order of the calls; commas are set as needed.
struct JSONText {
  private(set) var bytes: [UInt8] = []

  mutating func object(_ name: String? = nil, _ body: (inout JSONText) -> Void) {
    begin(name)
    bytes.append(UInt8(ascii: "{"))
    body(&self)
    bytes.append(UInt8(ascii: "}"))
  }

  mutating func array(_ name: String? = nil, _ body: (inout JSONText) -> Void) {
    begin(name)
    bytes.append(UInt8(ascii: "["))
    body(&self)
    bytes.append(UInt8(ascii: "]"))
  }

  /// Appends a string; appends nothing for nil.
  mutating func string(_ name: String? = nil, _ value: String?) {
    guard var value else { return }
    begin(name)
    value.withUTF8 { quote($0) }
  }

  /// Appends a string; appends nothing for nil.
  ///
  /// - Parameter value: UTF-8.
  mutating func string(_ name: String? = nil, utf8 value: [UInt8]?) {
    guard let value else { return }
    begin(name)
    value.withUnsafeBufferPointer { quote($0) }
  }

  mutating func number(_ name: String? = nil, _ value: Int?) {
    guard let value else { return }
    begin(name)
    bytes.append(contentsOf: String(value).utf8)
  }

  mutating func bool(_ name: String? = nil, _ value: Bool) {
    begin(name)
    bytes.append(contentsOf: (value ? "true" : "false").utf8)
  }

  /// Appends the text of members or elements; `other` may be empty.
  mutating func append(_ other: [UInt8]) {
    guard !other.isEmpty else { return }
    begin(nil)
    bytes.append(contentsOf: other)
  }

  /// Removes everything after the first `count` bytes.
  mutating func truncate(to count: Int) {
    bytes.removeSubrange(min(count, bytes.count)...)
  }

  private mutating func begin(_ name: String?) {
    if let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "["),
      last != UInt8(ascii: ":")
    {
      bytes.append(UInt8(ascii: ","))
    }
    if var name {
      name.withUTF8 { quote($0) }
      bytes.append(UInt8(ascii: ":"))
    }
  }

  private mutating func quote(_ text: UnsafeBufferPointer<UInt8>) {
    bytes.appendJSONString(UnsafeRawBufferPointer(text))
  }
}
