/// A word or a symbol of a Swift file.
struct Token: Equatable {
  /// The identifier or keyword without backticks; nil for a symbol.
  let word: String?
  /// The byte of a symbol; 0 for a word.
  let symbol: UInt8
  let line: Int

  func isSymbol(_ character: Character) -> Bool { symbol == character.asciiValue }
}

/// A run of `///` lines, or one `/** */` comment.
struct DocComment: Equatable {
  let text: String
  let line: Int
}

/// Splits a Swift file into words and symbols.
///
/// Comments are left out, as are numbers and the text of string and regular expression literals.
/// The code inside interpolations counts. The input is expected to compile: the lexer reports no
/// errors.
struct SwiftLexer {
  private(set) var tokens: [Token] = []
  private(set) var docComments: [DocComment] = []
  /// The lines that end inside or right after a string literal beyond column 100.
  private(set) var longLiteralLines: Set<Int> = []
  private let bytes: [UInt8]
  private var position = 0
  private var line = 1
  private var lineStart = 0
  private var docLineBefore = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes + [0, 0, 0]
    tokens.reserveCapacity(bytes.count / 4)
    scanCode(untilParenthesis: false)
  }

  private mutating func scanCode(untilParenthesis: Bool) {
    var depth = 0
    while position < bytes.count - 3 {
      let byte = bytes[position]
      if byte == Ascii.newline {
        startLine()
        position += 1
      } else if byte == Ascii.space {
        position += 1
      } else if Ascii.startsWord(byte) {
        scanWord()
      } else if Ascii.isDigit(byte) {
        skipNumber()
      } else if byte == Ascii.quote {
        scanString(hashes: 0)
      } else if byte == Ascii.backtick {
        scanQuotedWord()
      } else if byte == Ascii.hash {
        scanHash()
      } else if byte == Ascii.slash, scanCommentOrPattern() {
        continue
      } else {
        if byte == Ascii.open { depth += 1 }
        if byte == Ascii.close {
          depth -= 1
          if untilParenthesis, depth < 0 { return position += 1 }
        }
        tokens.append(Token(word: nil, symbol: byte, line: line))
        position += 1
      }
    }
  }

  private mutating func scanWord() {
    let start = position
    while Ascii.continuesWord(bytes[position]) { position += 1 }
    append(start..<position)
  }

  private mutating func scanQuotedWord() {
    let start = position + 1
    position = start
    while bytes[position] != Ascii.backtick, bytes[position] != 0 { position += 1 }
    append(start..<position)
    position += 1
  }

  private mutating func append(_ range: Range<Int>) {
    let word = String(decoding: bytes[range], as: UTF8.self)
    tokens.append(Token(word: word, symbol: 0, line: line))
  }

  private mutating func skipNumber() {
    while Ascii.continuesWord(bytes[position])
      || (bytes[position] == Ascii.dot && Ascii.isDigit(bytes[position + 1]))
    {
      position += 1
    }
  }

  /// Reads `#"…"#`, or leaves `#if` and `#expect` to be read as a symbol and a word.
  private mutating func scanHash() {
    var hashes = 0
    while bytes[position + hashes] == Ascii.hash { hashes += 1 }
    if bytes[position + hashes] == Ascii.quote {
      position += hashes
      scanString(hashes: hashes)
    } else if bytes[position + hashes] == Ascii.slash {
      position += hashes
      scanPattern(hashes: hashes)
    } else {
      tokens.append(Token(word: nil, symbol: Ascii.hash, line: line))
      position += hashes
    }
  }

  private mutating func scanString(hashes: Int) {
    let isMultiline = follows(Ascii.quote, count: 3)
    let quotes = isMultiline ? 3 : 1
    position += quotes
    while position < bytes.count - 3 {
      if bytes[position] == Ascii.quote, follows(Ascii.quote, count: quotes),
        follows(Ascii.hash, count: hashes, after: quotes)
      {
        position += quotes + hashes
        if position - lineStart > 100 { longLiteralLines.insert(line) }
        return
      }
      if bytes[position] == Ascii.backslash, follows(Ascii.hash, count: hashes, after: 1) {
        position += 1 + hashes
        if bytes[position] == Ascii.open {
          position += 1
          scanCode(untilParenthesis: true)
          continue
        }
      }
      if bytes[position] == Ascii.newline {
        if position - lineStart > 100 { longLiteralLines.insert(line) }
        startLine()
      }
      position += 1
    }
  }

  private mutating func startLine() {
    line += 1
    lineStart = position + 1
  }

  private func follows(_ byte: UInt8, count: Int, after offset: Int = 0) -> Bool {
    for step in 0..<count {
      let index = position + offset + step
      if index >= bytes.count || bytes[index] != byte { return false }
    }
    return true
  }

  /// Reads a comment or a regular expression literal; returns false if the slash is an operator.
  private mutating func scanCommentOrPattern() -> Bool {
    switch bytes[position + 1] {
    case Ascii.slash:
      skipLineComment()
    case Ascii.star:
      skipBlockComment()
    default:
      guard startsPattern else { return false }
      scanPattern(hashes: 0)
    }
    return true
  }

  private mutating func skipLineComment() {
    let start = position
    while bytes[position] != Ascii.newline, position < bytes.count - 3 { position += 1 }
    guard bytes[start + 2] == Ascii.slash, bytes[start + 3] != Ascii.slash else { return }
    if docLineBefore != line - 1 || docComments.isEmpty {
      let text = String(decoding: bytes[(start + 3)..<position], as: UTF8.self)
      docComments.append(DocComment(text: text, line: line))
    } else {
      let text = String(decoding: bytes[(start + 3)..<position], as: UTF8.self)
      let begun = docComments.removeLast()
      docComments.append(DocComment(text: begun.text + "\n" + text, line: begun.line))
    }
    docLineBefore = line
  }

  private mutating func skipBlockComment() {
    let start = position
    let firstLine = line
    var depth = 0
    repeat {
      if bytes[position] == Ascii.slash, bytes[position + 1] == Ascii.star {
        depth += 1
        position += 2
      } else if bytes[position] == Ascii.star, bytes[position + 1] == Ascii.slash {
        depth -= 1
        position += 2
      } else {
        if bytes[position] == Ascii.newline { startLine() }
        position += 1
      }
    } while depth > 0 && position < bytes.count - 3
    guard bytes[start + 2] == Ascii.star, position - start > 4 else { return }
    let text = String(decoding: bytes[(start + 3)..<(position - 2)], as: UTF8.self)
    docComments.append(DocComment(text: text, line: firstLine))
  }

  /// True where an operand may begin and no space follows the slash.
  private var startsPattern: Bool {
    guard bytes[position + 1] != Ascii.space, bytes[position + 1] != Ascii.close else {
      return false
    }
    guard let before = tokens.last else { return true }
    return before.isSymbol("(") || before.isSymbol(",") || before.isSymbol("=")
  }

  private mutating func scanPattern(hashes: Int) {
    position += 1
    while position < bytes.count - 3 {
      if bytes[position] == Ascii.slash, follows(Ascii.hash, count: hashes, after: 1) {
        position += 1 + hashes
        return
      }
      if bytes[position] == Ascii.backslash { position += 1 }
      if bytes[position] == Ascii.newline { startLine() }
      position += 1
    }
  }
}

private enum Ascii {
  static let newline = UInt8(ascii: "\n"), space = UInt8(ascii: " "), quote = UInt8(ascii: "\"")
  static let hash = UInt8(ascii: "#"), slash = UInt8(ascii: "/"), star = UInt8(ascii: "*")
  static let backslash = UInt8(ascii: "\\"), backtick = UInt8(ascii: "`"), dot = UInt8(ascii: ".")
  static let open = UInt8(ascii: "("), close = UInt8(ascii: ")")

  static func isDigit(_ byte: UInt8) -> Bool { byte >= 48 && byte <= 57 }

  static func startsWord(_ byte: UInt8) -> Bool {
    (byte >= 97 && byte <= 122) || (byte >= 65 && byte <= 90) || byte == 95 || byte >= 128
  }

  static func continuesWord(_ byte: UInt8) -> Bool { startsWord(byte) || isDigit(byte) }
}
