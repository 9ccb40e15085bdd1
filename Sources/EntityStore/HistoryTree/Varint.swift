/// Unsigned integers with seven bits in each byte, the low ones first; a set high bit means that
/// another byte follows (LEB128). Signed integers are mapped first: 0, -1, 1, -2 become 0, 1, 2, 3.
package enum Varint {
  package static func append(_ number: UInt64, to bytes: inout [UInt8]) {
    var rest = number
    while rest >= 0x80 {
      bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
      rest >>= 7
    }
    bytes.append(UInt8(rest))
  }

  /// The largest number of bytes of a number.
  static let byteCountMax = 10

  /// Writes a number at an offset, which then is that of the byte after it.
  @inline(__always)
  static func write(
    _ number: Int, to bytes: UnsafeMutableRawBufferPointer, at offset: inout Int
  ) {
    var rest = UInt64(number)
    while rest >= 0x80 {
      bytes[offset] = UInt8(truncatingIfNeeded: rest) | 0x80
      offset += 1
      rest >>= 7
    }
    bytes[offset] = UInt8(rest)
    offset += 1
  }

  package static func append(_ number: Int, to bytes: inout [UInt8]) {
    append(UInt64(number), to: &bytes)
  }

  static func appendSigned(_ number: Int64, to bytes: inout [UInt8]) {
    append(UInt64(bitPattern: number &<< 1 ^ number >> 63), to: &bytes)
  }

  /// Reads a number.
  ///
  /// - Returns: `nil` if the bytes end too soon or the number is too large.
  package static func read(_ bytes: inout UnsafeRawBufferPointer.SubSequence) -> UInt64? {
    var number: UInt64 = 0
    for shift in stride(from: UInt64(0), to: 64, by: 7) {
      guard let byte = bytes.popFirst() else { return nil }
      if shift == 63, byte > 1 { return nil }
      number |= UInt64(byte & 0x7F) << shift
      if byte < 0x80 { return number }
    }
    return nil
  }

  package static func readCount(_ bytes: inout UnsafeRawBufferPointer.SubSequence) -> Int? {
    read(&bytes).flatMap { Int(exactly: $0) }
  }

  static func readSigned(_ bytes: inout UnsafeRawBufferPointer.SubSequence) -> Int64? {
    read(&bytes).map { Int64(bitPattern: $0 >> 1) ^ -Int64(bitPattern: $0 & 1) }
  }
}
