/// Splits JSON Lines or a JSON array into the texts of its items.
struct BatchJSONSplitter {
  private enum Form { case lines, array }

  private var form: Form?
  private var isAtEnd = false

  /// - Throws: `BatchFileError` if the array itself is malformed.
  mutating func next(_ bytes: BatchBytes) throws -> BatchFileItem? {
    if form == nil {
      form = try bytes.peekBeyondSpace() == UInt8(ascii: "[") ? .array : .lines
      if form == .array { try open(bytes) }
    }
    if isAtEnd { return nil }
    return try form == .array ? element(bytes) : line(bytes)
  }

  private func line(_ bytes: BatchBytes) throws -> BatchFileItem? {
    guard try bytes.peekBeyondSpace() != nil else { return nil }
    let start = bytes.line
    var text: [UInt8] = []
    while let byte = try bytes.next(), byte != UInt8(ascii: "\n") {
      text.append(byte)
      try bytes.requireRoom(for: text.count, fromLine: start)
    }
    return BatchFileItem(content: .json(text), place: bytes.place(ofLine: start))
  }

  private mutating func open(_ bytes: BatchBytes) throws {
    _ = try bytes.next()
    if try bytes.peekBeyondSpace() == UInt8(ascii: "]") {
      _ = try bytes.next()
      try end(bytes)
    }
  }

  /// Returns the text up to the next comma or bracket of the array itself.
  private mutating func element(_ bytes: BatchBytes) throws -> BatchFileItem? {
    _ = try bytes.peekBeyondSpace()
    let start = bytes.line
    var text: [UInt8] = []
    var depth = 0
    var isText = false
    var isEscaped = false
    while let byte = try bytes.next() {
      if isText {
        if !isEscaped, byte == UInt8(ascii: "\"") { isText = false }
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
      } else {
        switch byte {
        case UInt8(ascii: "\""): isText = true
        case UInt8(ascii: "{"), UInt8(ascii: "["): depth += 1
        case UInt8(ascii: "]") where depth == 0:
          try end(bytes)
          return BatchFileItem(content: .json(text), place: bytes.place(ofLine: start))
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        case UInt8(ascii: ",") where depth == 0:
          return BatchFileItem(content: .json(text), place: bytes.place(ofLine: start))
        default: break
        }
      }
      text.append(byte)
      try bytes.requireRoom(for: text.count, fromLine: start)
    }
    throw BatchFileError(
      .malformed,
      "\(bytes.place(ofLine: start)): the array ends within an item, or without ]; "
        + "is the file complete?"
    )
  }

  private mutating func end(_ bytes: BatchBytes) throws {
    isAtEnd = true
    guard try bytes.peekBeyondSpace() != nil else { return }
    throw BatchFileError(
      .malformed, "\(bytes.place(ofLine: bytes.line)): text follows the array's ]")
  }
}
