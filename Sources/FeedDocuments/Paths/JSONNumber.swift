/// A number of a document or an expression, compared by its exact value: 1 equals 1.0, and
/// 9007199254740993 does not equal 9007199254740992.0.
enum JSONNumber {
  case integer(Int64)
  /// A number with a fraction, an exponent or too many digits, and the nearest double if there is
  /// one.
  case written(UnsafeRawBufferPointer, nearest: Double?)

  init(_ value: JSONValue) {
    if let integer = value.int64 {
      self = .integer(integer)
    } else {
      self = .written(value.textBytes, nearest: value.double)
    }
  }

  /// The cost of a comparison, in steps of `JSONPathEvaluation`.
  var cost: Int {
    switch self {
    case .integer: 1
    case .written(let text, _): 1 + text.count / 16
    }
  }

  /// Returns a negative number if `left` is smaller, 0 if both are equal. O(digits).
  static func order(_ left: JSONNumber, _ right: JSONNumber) -> Int {
    if case .integer(let left) = left, case .integer(let right) = right {
      return left < right ? -1 : left == right ? 0 : 1
    }
    // Rounding keeps the order, so digits matter only if both round to the same double.
    if let left = left.nearest, let right = right.nearest, left != right {
      return left < right ? -1 : 1
    }
    return Decimal(left.digits).order(to: Decimal(right.digits))
  }

  private var nearest: Double? {
    switch self {
    case .integer(let integer): Double(integer)
    case .written(_, let nearest): nearest
    }
  }

  private var digits: [UInt8] {
    switch self {
    case .integer(let integer): Array(String(integer).utf8)
    case .written(let text, _): Array(text)
    }
  }
}

/// An exact decimal: 0.d₁d₂d₃… × 10^exponent, where d₁ is not zero.
private struct Decimal {
  private var isNegative = false
  private var digits: [UInt8] = []
  private var exponent = 0

  /// Reads a valid JSON number.
  init(_ text: [UInt8]) {
    var rest = text[...]
    if rest.first == UInt8(ascii: "-") {
      isNegative = true
      rest.removeFirst()
    }
    let mantissa = rest.prefix { $0 | 0x20 != UInt8(ascii: "e") }
    let whole = mantissa.prefix { $0 != UInt8(ascii: ".") }
    digits = Array(whole + mantissa.dropFirst(whole.count + 1))
    exponent = whole.count
    if mantissa.count < rest.count {
      exponent += Self.exponent(rest.dropFirst(mantissa.count + 1))
    }
    let zeros = digits.prefix { $0 == 0x30 }.count
    digits.removeFirst(zeros)
    exponent -= zeros
    while digits.last == 0x30 { digits.removeLast() }
    if digits.isEmpty { (isNegative, exponent) = (false, 0) }
  }

  /// Returns the exponent, limited to 2^56, which no number of digits can reach.
  private static func exponent(_ text: ArraySlice<UInt8>) -> Int {
    let magnitude = text.reduce(0) { value, byte in
      Ascii.isDigit(byte) ? min(value * 10 + Int(byte - 0x30), 1 << 56) : value
    }
    return text.first == UInt8(ascii: "-") ? -magnitude : magnitude
  }

  func order(to other: Decimal) -> Int {
    if isNegative != other.isNegative { return isNegative ? -1 : 1 }
    return isNegative ? other.magnitudeOrder(to: self) : magnitudeOrder(to: other)
  }

  private func magnitudeOrder(to other: Decimal) -> Int {
    // Zero has no digits, and its exponent is meaningless.
    if digits.isEmpty || other.digits.isEmpty {
      return (digits.isEmpty ? 0 : 1) - (other.digits.isEmpty ? 0 : 1)
    }
    if exponent != other.exponent { return exponent < other.exponent ? -1 : 1 }
    if digits == other.digits { return 0 }
    return digits.lexicographicallyPrecedes(other.digits) ? -1 : 1
  }
}
