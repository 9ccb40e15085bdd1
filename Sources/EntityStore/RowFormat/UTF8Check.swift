/// A check for well-formed UTF-8, with the result of `UTF8Span(validating:)`. It takes a fraction
/// of the instructions if the text is not ASCII throughout; a fifth of the time of a short list was
/// spent there.
///
/// | scalar | first byte | second | others |
/// |---|---|---|---|
/// | 1 byte | 00…7F | | |
/// | 2 bytes | C2…DF | 80…BF | |
/// | 3 bytes | E0…EF | 80…BF, not below A0 after E0, not from A0 on after ED | 80…BF |
/// | 4 bytes | F0…F4 | 80…BF, not below 90 after F0, not from 90 on after F4 | 80…BF |
///
/// Source: The Unicode Standard, table 3-7.
enum UTF8Check {
  enum Found {
    case ascii, wellFormed, illFormed
  }

  static func check(_ bytes: UnsafeRawBufferPointer) -> Found {
    guard let base = bytes.baseAddress else { return .ascii }
    let count = bytes.count
    var offset = 0
    var found = Found.ascii
    while offset < count {
      if count &- offset >= 8 {
        // SAFETY: eight bytes are left.
        let word = UInt64(littleEndian: base.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        let high = word & 0x8080_8080_8080_8080
        offset &+= high == 0 ? 8 : high.trailingZeroBitCount >> 3
        if high == 0 { continue }
      } else if base.load(fromByteOffset: offset, as: UInt8.self) < 0x80 {  // SAFETY: one is left.
        offset &+= 1
        continue
      }
      let length = scalarBytes(base + offset, left: count &- offset)
      if length == 0 { return .illFormed }
      found = .wellFormed
      offset &+= length
    }
    return found
  }

  /// Returns the number of bytes of the scalar that begins here and is not ASCII; 0 if the bytes
  /// are not well-formed.
  ///
  /// - Parameter left: The number of bytes up to the end, at least one.
  @inline(__always)
  private static func scalarBytes(_ start: UnsafeRawPointer, left: Int) -> Int {
    // The first byte is the lowest. Zeros stand for missing bytes; they are not continuation bytes.
    var bytes: UInt32 = 0
    if left >= 4 {
      bytes = UInt32(littleEndian: start.loadUnaligned(as: UInt32.self))  // SAFETY: four are left.
    } else {
      for place in 0..<left {
        // SAFETY: the byte is one of those that are left.
        let byte = start.load(fromByteOffset: place, as: UInt8.self)
        bytes |= UInt32(byte) << (8 * UInt32(place))
      }
    }
    if bytes & 0x00C0_C0F0 == 0x0080_80E0 {
      // An overlong form of a smaller scalar, or half of a surrogate pair.
      let second = bytes & 0x200F
      return second == 0 || second == 0x200D ? 0 : 3
    }
    if bytes & 0xC0E0 == 0x80C0 { return bytes & 0x1E == 0 ? 0 : 2 }
    if bytes & 0xC0C0_C0F8 == 0x8080_80F0 {
      // An overlong form, or a number beyond the last scalar.
      let first = bytes & 7
      let second = bytes & 0x3000
      return first == 0 && second == 0 || first > 4 || first == 4 && second != 0 ? 0 : 4
    }
    return 0
  }
}
