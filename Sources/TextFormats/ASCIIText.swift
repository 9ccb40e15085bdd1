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
  /// The text as one word of a POSIX shell, in quotes only where it needs them.
  package var shellWord: String {
    if wholeMatch(of: /[A-Za-z0-9_.\/=@%+,:-]+/) != nil { return self }
    return "'" + replacing("'", with: #"'\''"#) + "'"
  }
}
