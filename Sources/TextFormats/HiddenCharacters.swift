extension Unicode.Scalar {
  /// True for a character that is not seen, but can change how the text around it is shown or what
  /// a reader takes it for: control characters, line and paragraph separators, the marks of
  /// direction of the Unicode Bidirectional Algorithm, characters without width, and tags.
  ///
  /// Text of a feed is not trusted, so output replaces or escapes these characters.
  package var isHidden: Bool {
    switch value {
    case 0x00...0x1F, 0x7F...0x9F: true
    case 0x061C, 0x200E, 0x200F, 0x202A...0x202E, 0x2066...0x2069: true  // direction
    case 0x2028, 0x2029: true  // separators
    case 0x200B, 0x2060...0x2065, 0x206A...0x206F, 0xFEFF, 0xFFF9...0xFFFB: true  // no width
    default: isJoiner
    }
  }

  /// True for the hidden characters that scripts and emoji need: the joiners, the vowel separator
  /// of Mongolian, and the tags in the flags of countries' parts.
  package var isJoiner: Bool {
    switch value {
    case 0x180E, 0x200C, 0x200D, 0xE0000...0xE007F: true
    default: false
    }
  }

  /// Returns true if the UTF-8 of a hidden character above U+0020 can begin with the byte.
  static func beginsHidden(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x7F, 0xC2, 0xD8, 0xE1, 0xE2, 0xEF, 0xF3: true
    default: false
    }
  }
}
