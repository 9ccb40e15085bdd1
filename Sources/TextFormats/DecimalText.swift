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
