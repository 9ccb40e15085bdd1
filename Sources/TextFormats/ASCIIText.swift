extension UnsafeRawBufferPointer {
  /// True if all bytes are ASCII. Compares eight bytes at a time.
  @inlinable
  @inline(__always)
  package var isASCII: Bool {
    guard let base = baseAddress else { return true }
    // SAFETY (of all loads): the bytes lie before the end.
    func word(_ offset: Int) -> UInt64 {
      base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
    }
    var offset = 0
    var high: UInt64 = 0
    while count &- offset >= 32 {
      high = word(offset) | word(offset &+ 8) | word(offset &+ 16) | word(offset &+ 24)
      if high & 0x8080_8080_8080_8080 != 0 { return false }
      offset &+= 32
    }
    while count &- offset >= 8 {
      high |= word(offset)
      offset &+= 8
    }
    if count >= 8 {
      high |= word(count &- 8)
    } else {
      for place in 0..<count { high |= UInt64(base.load(fromByteOffset: place, as: UInt8.self)) }
    }
    return high & 0x8080_8080_8080_8080 == 0
  }
}

extension [UInt8] {
  /// Appends the number in decimal digits.
  @inlinable
  package mutating func appendDecimal(_ number: Int64) {
    // 19 digits and a sign.
    withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { text in
      var start = text.count
      var rest = number.magnitude
      repeat {
        start -= 1
        text[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
        rest /= 10
      } while rest > 0
      if number < 0 {
        start -= 1
        text[start] = UInt8(ascii: "-")
      }
      append(contentsOf: UnsafeRawBufferPointer(rebasing: text[start...]))
    }
  }
}

extension String {
  /// Returns the text with another text in the place of each occurrence of a scalar, also where a
  /// combining mark follows it. `replacing` compares characters, and would leave that one as it is:
  /// a quotation mark would then end what it was to be a part of.
  package func escaping(_ scalar: Unicode.Scalar, as text: String) -> String {
    var escaped = UnicodeScalarView()
    for next in unicodeScalars {
      if next == scalar {
        escaped.append(contentsOf: text.unicodeScalars)
      } else {
        escaped.append(next)
      }
    }
    return String(escaped)
  }

  /// The text as one word of a POSIX shell, in quotes only where it needs them.
  package var shellWord: String {
    if wholeMatch(of: /[A-Za-z0-9_.\/=@%+,:-]+/) != nil { return self }
    return "'" + escaping("'", as: #"'\''"#) + "'"
  }

  /// The text as a name of SQL, in quotation marks.
  package var sqlName: String { "\"" + escaping("\"", as: "\"\"") + "\"" }
}
