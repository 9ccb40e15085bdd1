/// The escapes that JSON uses for one character beyond U+FFFF, such as `\ud83d\ude00`. YAML does
/// not have such pairs, but many programs write JSON in no other way.
enum SurrogateEscapes {
  /// Replaces each pair by its character. Half a pair stays, for the parser to refuse.
  ///
  /// A backslash occurs only within texts, so that the rest of the document need not be parsed. The
  /// text after a pair on the same line moves to the left, and with it the column in error
  /// messages.
  static func joined(in json: [UInt8]) -> [UInt8] {
    var joined: [UInt8] = []
    joined.reserveCapacity(json.count)
    var position = 0
    while position < json.count {
      if let high = unit(json, at: position), let low = unit(json, at: position + 6),
        UTF16.isLeadSurrogate(high), UTF16.isTrailSurrogate(low)
      {
        joined += String(decoding: [high, low], as: UTF16.self).utf8
        position += 12
        continue
      }
      // The second of two backslashes begins no escape.
      let count = json[position] == UInt8(ascii: "\\") && position + 1 < json.count ? 2 : 1
      joined += json[position..<position + count]
      position += count
    }
    return joined
  }

  /// Returns the number of an escape `\uXXXX` that begins at the position; `nil` if none does.
  private static func unit(_ json: [UInt8], at position: Int) -> UInt16? {
    guard position + 6 <= json.count, json[position] == UInt8(ascii: "\\"),
      json[position + 1] == UInt8(ascii: "u")
    else { return nil }
    var unit: UInt16 = 0
    for byte in json[position + 2..<position + 6] {
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
      unit = unit << 4 | UInt16(digit)
    }
    return unit
  }
}
