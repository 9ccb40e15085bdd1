import TestSupport

extension SeededRandom {
  /// Texts of difficult characters: marks, compositions, expansions of case folding, digits,
  /// scripts with special rules, ignorable characters, any other scalar; short enough to collide.
  private mutating func oddText() -> [UInt8] {
    var text = ""
    for _ in 0..<Int.random(in: 0...8, using: &self) {
      if let scalar = scalar() { text.unicodeScalars.append(scalar) }
    }
    return Array(text.utf8)
  }

  private mutating func scalar() -> Unicode.Scalar? {
    let pools = [
      "aAbBzZ", "0123456789", " -_.", "äÄåÅéÉñçßẞſıİŉǰΐΰ", "\u{301}\u{308}\u{327}\u{345}\u{5B0}",
      "ᾳᾼΩΩÅΣσς", "가각힣\u{1100}\u{1161}", "北京上海重庆", "\u{0}\u{AD}\u{200D}\u{FEFF}",
      "\u{FFFE}\u{FFFF}\u{10FFFF}\u{FFFD}", "ﬁﬀǆ㎏①", "กำเ", "\u{1D165}\u{1D16D}\u{302E}", "👩‍👩‍👧🇩🇪",
    ]
    if Int.random(in: 0..<10, using: &self) == 0 {
      return Unicode.Scalar(UInt32.random(in: 0...0x10FFFF, using: &self))
    }
    return pools.randomElement(using: &self)?.unicodeScalars.randomElement(using: &self)
  }

  /// Ill-formed texts as well: any bytes, and texts with a changed or missing byte.
  mutating func anyBytes() -> [UInt8] {
    var text = oddText()
    switch Int.random(in: 0..<4, using: &self) {
    case 0: return bytes(count: Int.random(in: 0..<12, using: &self))
    case 1:
      if let place = text.indices.randomElement(using: &self) { text.remove(at: place) }
      return text
    case 2:
      if let place = text.indices.randomElement(using: &self) {
        text[place] = UInt8.random(in: 0x80...0xFF, using: &self)
      }
      return text
    default: return text
    }
  }
}
