import TextFormats

extension String {
  /// The columns this text takes on a terminal: East Asian wide characters and emoji take two,
  /// combining marks and format characters none (Unicode Standard Annex 11).
  ///
  /// - Complexity: O(*n*).
  public var displayWidth: Int {
    reduce(0) { $0 + $1.displayWidth }
  }

  /// The text cut to a number of columns, with `…` where something is left out.
  ///
  /// Never longer than asked for; it may be one column shorter before a wide character.
  public func truncated(toWidth width: Int) -> String {
    guard displayWidth > width else { return self }
    guard width > 0 else { return "" }
    var kept = ""
    var columns = 0
    for character in self {
      guard columns + character.displayWidth <= width - 1 else { break }
      columns += character.displayWidth
      kept.append(character)
    }
    return kept + "…"
  }

  /// The text as it is safe on one line of a terminal: white space becomes a space, and what would
  /// move the cursor, turn the direction of writing or hide becomes U+FFFD.
  ///
  /// Text from a feed is not trusted: an escape sequence in a title must not reach the terminal. A
  /// joiner stays after a character that it can join, such as an emoji or an Arabic letter.
  public var singleLine: String {
    guard unicodeScalars.contains(where: \.isHidden) else { return self }
    var line = String.UnicodeScalarView()
    var isAfterReturn = false
    for scalar in unicodeScalars {
      if !scalar.isHidden || scalar.isJoiner && line.last?.takesJoiner == true {
        line.append(scalar)
      } else if !(isAfterReturn && scalar == "\n") {
        line.append(scalar.properties.isWhitespace ? " " : Self.replacement)
      }
      isAfterReturn = scalar == "\r"
    }
    return String(line)
  }

  fileprivate static let replacement: Unicode.Scalar = "\u{FFFD}"
}

extension Character {
  fileprivate var displayWidth: Int {
    // Printable ASCII, the usual case, without a look at any table.
    if let ascii = asciiValue { return (0x20..<0x7F).contains(ascii) ? 1 : 0 }
    // A flag, a family or a heart with a variation selector is one picture of two columns.
    let isEmoji = unicodeScalars.contains {
      $0.properties.isEmojiPresentation || $0.value == 0xFE0F
    }
    return isEmoji ? 2 : unicodeScalars.reduce(0) { $0 + $1.displayWidth }
  }
}

extension Unicode.Scalar {
  fileprivate var displayWidth: Int {
    switch properties.generalCategory {
    case .nonspacingMark, .enclosingMark, .format, .control, .lineSeparator, .paragraphSeparator:
      return 0
    default: break
    }
    // The vowels and final consonants of Hangul stand inside the syllable's first letter.
    if (0x1160...0x11FF).contains(value) { return 0 }
    return isEastAsianWide ? 2 : 1
  }

  /// The classes W and F of EastAsianWidth.txt, without emoji, which have a property of their own.
  private var isEastAsianWide: Bool {
    switch value {
    case 0x1100...0x115F, 0x2329...0x232A, 0x2E80...0x303E, 0x3041...0x4DBF, 0x4E00...0xA4CF,
      0xA960...0xA97F, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE10...0xFE19, 0xFE30...0xFE6F,
      0xFF01...0xFF60, 0xFFE0...0xFFE6, 0x16FE0...0x18DFF, 0x1AFF0...0x1B2FF, 0x1F200...0x1F265,
      0x20000...0x2FFFD, 0x30000...0x3FFFD:
      return true
    default: return false
    }
  }

  /// False for Latin letters and their marks, which are not joined.
  fileprivate var takesJoiner: Bool { value >= 0x0370 && self != String.replacement }
}
