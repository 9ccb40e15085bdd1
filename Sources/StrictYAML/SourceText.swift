/// A place in a file: line and column from 1, the column in code points.
struct Position: Equatable, Sendable {
  var line = 1
  var column = 1
}

/// The text of one document: valid UTF-8 of bounded size, without a byte order mark.
struct SourceText {
  let file: String
  let bytes: [UInt8]

  init(bytes: [UInt8], file: String, bytesMax: Int) throws(YAMLError) {
    // First, because a reader with the same bound has cut the text anywhere.
    let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
    let hasMark = bytes.starts(with: mark)
    guard bytes.count - (hasMark ? mark.count : 0) <= bytesMax else {
      throw SourceText(unchecked: [], file: file)
        .error(atByte: 0, "the document is longer than the limit of \(bytesMax) bytes; split it")
    }
    if String(validating: bytes, as: UTF8.self) == nil {
      let valid = SourceText.validPrefix(of: bytes)
      throw SourceText(unchecked: valid, file: file)
        .error(atByte: valid.count, "the text is not UTF-8 from here on; save the file as UTF-8")
    }
    self.init(unchecked: hasMark ? Array(bytes.dropFirst(mark.count)) : bytes, file: file)
  }

  private init(unchecked bytes: [UInt8], file: String) {
    self.bytes = bytes
    self.file = file
  }

  /// Throws at invisible characters, and at line breaks that only some programs count.
  func checkCharacters() throws(YAMLError) {
    var index = 0
    while index < bytes.count {
      if let refusal = refusal(atByte: index) { throw error(atByte: index, refusal) }
      index += 1
    }
  }

  /// Returns why the character that starts at a byte is not allowed, or nil if it is.
  private func refusal(atByte index: Int) -> String? {
    func follows(_ offset: Int) -> UInt8 { bytes[index + offset] }  // UTF-8 is known to be whole
    switch bytes[index] {
    case 0x09, 0x0A, 0x0D, 0x20...0x7E: return nil
    case 0x00...0x1F, 0x7F: return controlCharacter(UInt32(bytes[index]))
    case 0xC2 where follows(1) < 0xA0: return controlCharacter(UInt32(follows(1)))
    case 0xE2 where follows(1) == 0x80 && (follows(2) == 0xA8 || follows(2) == 0xA9):
      let name = follows(2) == 0xA8 ? "2028" : "2029"
      return "the invisible line break U+\(name) stands here; write \"\\u\(name)\" or remove it"
    case 0xEF where follows(1) == 0xBB && follows(2) == 0xBF:
      return "a byte order mark stands inside the text; remove it"
    case 0xEF where follows(1) == 0xBF && follows(2) >= 0xBE:
      return "U+FFF\(follows(2) == 0xBE ? "E" : "F") is not a character; remove it"
    default: return nil
    }
  }

  private func controlCharacter(_ value: UInt32) -> String {
    let hexadecimal = String(value, radix: 16, uppercase: true)
    let name = String(repeating: "0", count: 4 - hexadecimal.count) + hexadecimal
    return "the control character U+\(name) stands here; remove it or write \"\\u\(name)\""
  }

  /// Returns an error at the character that starts at (or contains) a byte.
  func error(atByte end: Int, _ summary: String) -> YAMLError {
    var position = Position()
    for index in 0..<end {
      switch bytes[index] {
      case 0x0D where index + 1 < bytes.count && bytes[index + 1] == 0x0A: break
      case 0x0A, 0x0D: position = Position(line: position.line + 1, column: 1)
      case 0x80...0xBF: break
      default: position.column += 1
      }
    }
    return YAMLError(file: file, line: position.line, column: position.column, summary: summary)
  }

  private static func validPrefix(of bytes: [UInt8]) -> [UInt8] {
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var length = 0
    while case .valid(let scalar) = parser.parseScalar(from: &iterator) { length += scalar.count }
    return Array(bytes.prefix(length))
  }
}
