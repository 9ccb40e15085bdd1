/// Gathers the headers of the final answer from what libcurl's header callback hands over: the
/// lines of every answer that it reads, 1xx answers and trailers among them.
struct HeaderCollector {
  private(set) var headers: [(name: String, value: String)] = []
  private var isInBlock = false
  /// Places of values that were not UTF-8.
  private var foreign: Set<Int> = []

  /// Takes one line, with or without its line end.
  mutating func append(line bytes: UnsafeRawBufferPointer) {
    let line = trimmed(bytes[...])
    if !isInBlock {
      // Lines after a block's end that start no new answer are trailers.
      guard line.starts(with: "HTTP/".utf8) else { return }
      isInBlock = true
      headers = []
      foreign = []
    } else if line.isEmpty, bytes.allSatisfy({ $0 == 13 || $0 == 10 }) {
      isInBlock = false
      headers = headers.enumerated().filter { place, header in
        !hasControlCharacter(header.value)
          && !(foreign.contains(place) && isValidator(header.name))
      }.map(\.element)
    } else if let first = bytes.first, isBlank(first) {
      join(line)
    } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
      let value = trimmed(line[line.index(after: colon)...])
      note(value, at: headers.count)
      headers.append((decode(line[..<colon]), decode(value)))
    }
  }

  /// Continues the last value (obs-fold, RFC 9112, section 5.2).
  private mutating func join(_ line: Slice<UnsafeRawBufferPointer>) {
    guard let last = headers.indices.last, !line.isEmpty else { return }
    note(line, at: last)
    let text = decode(line)
    headers[last].value += headers[last].value.isEmpty ? text : " " + text
  }

  private mutating func note(_ value: Slice<UnsafeRawBufferPointer>, at place: Int) {
    if String(validating: value, as: UTF8.self) == nil { foreign.insert(place) }
  }

  /// Sent back byte for byte, or not at all.
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

/// Whether the text has a character that no header value may have (RFC 9110, section 5.5).
func hasControlCharacter(_ text: String) -> Bool {
  text.utf8.contains { $0 < 0x20 && $0 != UInt8(ascii: "\t") || $0 == 0x7F }
}
