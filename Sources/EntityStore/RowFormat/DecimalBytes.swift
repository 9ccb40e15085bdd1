package import Foundation

/// The encoding of decimals as bytes that sort as the numbers do. Equal numbers have equal bytes
/// (1.0 and 1).
///
///     offset  size   field
///          0     1   0 negative, 1 zero (and nothing follows), 2 positive
///          1     2   exponent e of 0.d₁d₂… × 10ᵉ, big-endian, sign flipped
///          3     …   the digits by pairs, each pair plus one (1…100)
///          …     1   0
///
/// After the first byte a negative number is complemented.
package enum DecimalBytes {
  /// The largest size in bytes. Foundation has 128 bits of digits: at most 39 digits, in 20 pairs.
  static let countMax = 24

  package static func append(_ decimal: Decimal, to bytes: inout [UInt8]) {
    // The description is exact: Foundation prints all of the at most 38 digits.
    var text = Substring(decimal.description)
    let isNegative = text.first == "-"
    if isNegative { text = text.dropFirst() }
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    let whole = parts[0].utf8.map { $0 - 48 }
    let fraction = parts.count > 1 ? parts[1].utf8.map { $0 - 48 } : []
    var digits = whole + fraction
    var exponent = whole.count
    let leading = digits.prefix { $0 == 0 }.count
    digits.removeFirst(leading)
    exponent -= leading
    while digits.last == 0 { digits.removeLast() }
    if digits.isEmpty {
      bytes.append(1)
      return
    }
    bytes.append(isNegative ? 0 : 2)
    let start = bytes.count
    let flipped = UInt16(bitPattern: Int16(exponent)) ^ 0x8000
    bytes.append(UInt8(flipped >> 8))
    bytes.append(UInt8(flipped & 0xff))
    for index in stride(from: 0, to: digits.count, by: 2) {
      let low = index + 1 < digits.count ? digits[index + 1] : 0
      bytes.append(digits[index] * 10 + low + 1)
    }
    bytes.append(0)
    if isNegative {
      for index in start..<bytes.count { bytes[index] = ~bytes[index] }
    }
  }

  /// Returns the decimal of these bytes.
  ///
  /// - Returns: `nil` for bytes that `append` does not write.
  static func decode(_ bytes: UnsafeRawBufferPointer) -> Decimal? {
    guard let sign = bytes.first, sign <= 2 else { return nil }
    if sign == 1 { return bytes.count == 1 ? Decimal.zero : nil }
    let mask: UInt8 = sign == 0 ? 0xff : 0
    guard bytes.count >= 5, bytes[bytes.count - 1] ^ mask == 0 else { return nil }
    let raw = UInt16(bytes[1] ^ mask) << 8 | UInt16(bytes[2] ^ mask)
    let exponent = Int(Int16(bitPattern: raw ^ 0x8000))
    var digits = ""
    for index in 3..<bytes.count - 1 {
      let pair = bytes[index] ^ mask
      guard pair >= 1, pair <= 100 else { return nil }
      digits += String((pair - 1) / 10) + String((pair - 1) % 10)
    }
    guard digits.count <= 40, abs(exponent) <= 200 else { return nil }
    // The digit that fills the last pair is removed, because the smallest numbers would get one
    // digit too many.
    if digits.last == "0" { digits.removeLast() }
    let text = (sign == 0 ? "-" : "") + digits + "e\(exponent - digits.count)"
    return Decimal(string: text)
  }
}
