/// JSON that is being written: members and elements in the order of the calls, with the commas
/// between them. The caller gives names to members and none to elements.
@frozen
@usableFromInline
package struct JSONWriter {
  @usableFromInline
  package var bytes: [UInt8] = []

  @inlinable
  package init() {}

  @inlinable
  package mutating func object(_ name: String? = nil, _ body: (inout JSONWriter) -> Void) {
    begin(name)
    bytes.append(UInt8(ascii: "{"))
    body(&self)
    bytes.append(UInt8(ascii: "}"))
  }

  @inlinable
  package mutating func array(_ name: String? = nil, _ body: (inout JSONWriter) -> Void) {
    begin(name)
    bytes.append(UInt8(ascii: "["))
    body(&self)
    bytes.append(UInt8(ascii: "]"))
  }

  /// Writes a string; nothing for `nil`.
  @inlinable
  package mutating func string(_ name: String? = nil, _ value: String?) {
    guard var value else { return }
    begin(name)
    value.withUTF8 { bytes.appendJSONString(UnsafeRawBufferPointer($0)) }
  }

  /// Writes a string; nothing for `nil`.
  ///
  /// - Parameter value: The text in UTF-8.
  @inlinable
  package mutating func string(_ name: String? = nil, utf8 value: [UInt8]?) {
    guard let value else { return }
    begin(name)
    value.withUnsafeBytes { bytes.appendJSONString($0) }
  }

  /// Writes a number; nothing for `nil`.
  @inlinable
  package mutating func number(_ name: String? = nil, _ value: Int?) {
    guard let value else { return }
    begin(name)
    bytes.appendDecimal(Int64(value))
  }

  @inlinable
  package mutating func bool(_ name: String? = nil, _ value: Bool) {
    literal(name, value ? "true" : "false")
  }

  /// Writes text that is JSON already, such as `null`.
  @inlinable
  package mutating func literal(_ name: String? = nil, _ value: String) {
    begin(name)
    bytes.append(contentsOf: value.utf8)
  }

  /// Appends members or elements that were written before; `other` may be empty.
  @inlinable
  package mutating func append(_ other: [UInt8]) {
    guard !other.isEmpty else { return }
    begin(nil)
    bytes.append(contentsOf: other)
  }

  /// Removes the bytes after the first `count`.
  @inlinable
  package mutating func truncate(to count: Int) {
    bytes.removeSubrange(min(count, bytes.count)...)
  }

  @inlinable
  package mutating func begin(_ name: String?) {
    if let last = bytes.last, last != UInt8(ascii: "{"), last != UInt8(ascii: "["),
      last != UInt8(ascii: ":")
    {
      bytes.append(UInt8(ascii: ","))
    }
    if var name {
      name.withUTF8 { bytes.appendJSONString(UnsafeRawBufferPointer($0)) }
      bytes.append(UInt8(ascii: ":"))
    }
  }
}
