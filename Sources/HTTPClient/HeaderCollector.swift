/// Collects the headers of the final answer from the lines that libcurl's header callback gets,
/// which include those of redirects, 1xx answers and trailers.
struct HeaderCollector {
  private(set) var headers: [(name: String, value: String)] = []
  private var isInBlock = false
  /// The positions of values that are not UTF-8.
  private var nonUTF8: Set<Int> = []

  /// Appends one line, with or without its line end.
  mutating func append(line bytes: UnsafeRawBufferPointer) {
    let line = trimmed(bytes[...])
    if !isInBlock {
      // Lines after a block's end that start no new answer are trailers.
      guard line.starts(with: "HTTP/".utf8) else { return }
      isInBlock = true
      headers = []
      nonUTF8 = []
    } else if line.isEmpty, bytes.allSatisfy({ $0 == 13 || $0 == 10 }) {
      isInBlock = false
      headers = headers.enumerated().filter { position, header in
        !hasControlCharacter(header.value)
          && !(nonUTF8.contains(position) && isValidator(header.name))
      }.map(\.element)
    } else if let first = bytes.first, isBlank(first) {
      join(line)
    } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
      let value = trimmed(line[line.index(after: colon)...])
      checkEncoding(of: value, at: headers.count)
      headers.append((decode(line[..<colon]), decode(value)))
    }
  }

  /// Continues the last value (obs-fold, RFC 9112, section 5.2).
  private mutating func join(_ line: Slice<UnsafeRawBufferPointer>) {
    guard let last = headers.indices.last, !line.isEmpty else { return }
    checkEncoding(of: line, at: last)
    let text = decode(line)
    headers[last].value += headers[last].value.isEmpty ? text : " " + text
  }

  private mutating func checkEncoding(
    of value: Slice<UnsafeRawBufferPointer>, at position: Int
  ) {
    if String(validating: value, as: UTF8.self) == nil { nonUTF8.insert(position) }
  }

  /// Returns true for a header that later requests send back verbatim.
  private func isValidator(_ name: String) -> Bool {
    ["etag", "last-modified"].contains(name.lowercased())
  }

  private func trimmed(
    _ bytes: Slice<UnsafeRawBufferPointer>
  ) -> Slice<UnsafeRawBufferPointer> {
    var rest = bytes
    while let first = rest.first, isBlank(first) { rest.removeFirst() }
    while let last = rest.last, isBlank(last) || last == 13 || last == 10 { rest.removeLast() }
    return rest
  }

  private func isBlank(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
  }

  private func decode(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
    String(validating: bytes, as: UTF8.self)
      ?? String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
  }
}

/// Returns true if the text has a character that is not allowed in a header value (RFC 9110,
/// section 5.5).
package func hasControlCharacter(_ text: String) -> Bool {
  text.utf8.contains { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7F }
}
