import Foundation

/// A decimal number with as many digits as 128 bits hold, at least 38. Every loss of digits in a
/// conversion between the kinds of numbers is detected.
struct ExactNumber: Equatable {
  private var isNegative = false
  /// The digits without sign and point.
  private var digits: UInt128 = 0
  /// The power of ten that the digits are multiplied by.
  private var exponent = 0
  /// True if there were more digits than fit, and they are not all zero.
  private var isCut = false

  /// Reads a whole text: an optional sign, digits, an optional point with digits, an optional
  /// exponent. `nil` for any other text. O(length).
  init?(_ text: String) {
    var rest = Substring(text).utf8
    let sign = rest.first
    if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
    guard takeDigits(of: &rest) > 0 else { return nil }
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      let places = takeDigits(of: &rest)
      guard places > 0 else { return nil }
      exponent -= places
    }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest.removeFirst()
      guard let power = Self.power(&rest) else { return nil }
      exponent += power
    }
    guard rest.isEmpty else { return nil }
    isNegative = sign == UInt8(ascii: "-")
    dropZeros()
  }

  init(_ number: Int64) {
    isNegative = number < 0
    digits = UInt128(number.magnitude)
    dropZeros()
  }

  /// The shortest decimal number that identifies the double; a whole number of at most 64 bits is
  /// itself. `nil` for infinities and NaN.
  init?(_ number: Double) {
    if let whole = Int64(exactly: number) {
      self.init(whole)
    } else {
      guard number.isFinite else { return nil }
      self.init(number.description)
    }
  }

  /// The same number; `nil` for NaN.
  init?(_ number: Decimal) {
    guard number.isFinite else { return nil }
    self.init(number.description)
  }

  /// The product, or `nil` if it has too many digits.
  func multiplied(by other: ExactNumber) -> ExactNumber? {
    let (product, overflow) = digits.multipliedReportingOverflow(by: other.digits)
    guard !overflow else { return nil }
    var result = self
    result.isNegative = isNegative != other.isNegative
    result.digits = product
    result.exponent += other.exponent
    result.isCut = product != 0 && (isCut || other.isCut)
    result.dropZeros()
    return result
  }

  enum Integer {
    case exactly(Int64)
    /// A number with a fraction, without a rounding rule.
    case inexact
    case tooSmall, tooGreat
  }

  /// Converts the number to a whole one.
  ///
  /// - Parameter rounding: The rule for a number with a fraction; `nil` makes such a number
  ///   inexact.
  func integer(_ rounding: Conversion.Rounding?) -> Integer {
    let outside: Integer = isNegative ? .tooSmall : .tooGreat
    var magnitude = digits
    if digits != 0, exponent > 0 {
      guard exponent < 20 else { return outside }
      let (product, overflow) = digits.multipliedReportingOverflow(by: Self.powersOfTen[exponent])
      guard !overflow else { return outside }
      magnitude = product
    } else if exponent < 0 || isCut {
      // With a greater exponent the number is less than a half: 128 bits have 39 digits at most.
      let places = -exponent
      let divisor = places < Self.powersOfTen.count ? Self.powersOfTen[places] : 0
      let (whole, rest) =
        divisor == 0 ? (0, digits) : digits.quotientAndRemainder(dividingBy: divisor)
      if rest != 0 || isCut {
        guard let rounding else { return .inexact }
        let half: Ordering =
          divisor == 0 ? .ascending : Ordering(rest * 2 + (isCut ? 1 : 0), divisor)
        magnitude = whole + (goesUp(rounding, half, isOdd: whole % 2 == 1) ? 1 : 0)
      } else {
        magnitude = whole
      }
    }
    if isNegative, magnitude == Int64.min.magnitude { return .exactly(.min) }
    guard let number = Int64(exactly: magnitude) else { return outside }
    return .exactly(isNegative ? -number : number)
  }

  /// True if rounding increases the magnitude.
  private func goesUp(_ rounding: Conversion.Rounding, _ half: Ordering, isOdd: Bool) -> Bool {
    switch rounding {
    case .halfEven: half == .descending || half == .same && isOdd
    case .halfUp: half != .ascending
    case .up: !isNegative
    case .down: isNegative
    case .truncate: false
    }
  }

  /// The nearest double, and if it is exactly this number; `nil` above the greatest double.
  var double: (nearest: Double, isExact: Bool)? {
    guard let nearest = Double(text), nearest.isFinite else { return nil }
    let isExact = self == ExactNumber(nearest.description) || self == ExactNumber(nearest)
    return (nearest, isExact)
  }

  /// The same number as a decimal; `nil` if a decimal cannot hold it.
  var decimal: Decimal? {
    guard !isCut, abs(exponent) < 200, let decimal = Decimal(string: text),
      ExactNumber(decimal) == self
    else { return nil }
    return decimal
  }

  private var text: String { (isNegative ? "-" : "") + String(digits) + "e" + String(exponent) }

  // MARK: Reading

  /// Consumes the leading digits and appends them. Those that do not fit increase the exponent.
  ///
  /// - Returns: The number of digits that were consumed.
  private mutating func takeDigits(of rest: inout Substring.UTF8View) -> Int {
    var count = 0
    var isFull = false
    for byte in rest {
      guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { break }
      count += 1
      let digit = UInt128(byte - UInt8(ascii: "0"))
      let (tens, overflow) = digits.multipliedReportingOverflow(by: 10)
      let (sum, carry) = tens.addingReportingOverflow(digit)
      isFull = isFull || overflow || carry || exponent > 0
      if isFull {
        exponent += 1
        isCut = isCut || digit != 0
      } else {
        digits = sum
      }
    }
    rest.removeFirst(count)
    return count
  }

  private static func power(_ rest: inout Substring.UTF8View) -> Int? {
    let sign = rest.first
    if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
    var power = ExactNumber(Int64(0))
    guard power.takeDigits(of: &rest) > 0 else { return nil }
    // No type can hold a number with so large an exponent, and sums of exponents cannot overflow.
    let size = power.exponent > 0 ? powerMax : Int(min(power.digits, UInt128(powerMax)))
    return sign == UInt8(ascii: "-") ? -size : size
  }

  private static let powerMax = 1 << 40

  /// Removes trailing zeros, so that equal numbers have equal members.
  private mutating func dropZeros() {
    guard digits != 0 else {
      if !isCut { (isNegative, exponent) = (false, 0) }
      return
    }
    while digits % 10 == 0 {
      digits /= 10
      exponent += 1
    }
  }

  private static let powersOfTen: [UInt128] = {
    var powers: [UInt128] = [1]
    while powers.count < 39, let last = powers.last { powers.append(last * 10) }
    return powers
  }()
}
