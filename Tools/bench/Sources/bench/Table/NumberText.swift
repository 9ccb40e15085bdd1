import Foundation

/// Returns a number with three significant digits below 100, and as a whole number with grouped
/// thousands above.
func numberText(_ value: Double) -> String {
  guard value >= 100 else {
    if value == 0 { return "0" }
    return String(format: value >= 10 ? "%.1f" : value >= 1 ? "%.2f" : "%.3f", value)
  }
  return Int(value.rounded()).grouped
}

/// Returns a ratio with three significant digits below 100. What is left out never makes it better:
/// 0.9499 is `0.949`.
///
/// - Parameter rule: `.up` for a ratio of which less is better.
func ratioText(_ ratio: Double, _ rule: FloatingPointRoundingRule = .down) -> String {
  let places = ratio >= 100 ? 0 : ratio >= 10 ? 1 : ratio >= 1 ? 2 : 3
  let scale = [1.0, 10, 100, 1000][places]
  // The noise of binary fractions: 0.29 * 100 is a little less than 29.
  let scaled = (ratio * scale * 1e6).rounded() / 1e6
  return String(format: "%.\(places)f", scaled.rounded(rule) / scale)
}

extension Int {
  /// The number with grouped thousands: `1,000`.
  var grouped: String {
    let digits = Array(String(self))
    let grouped = digits.enumerated().map { index, digit in
      index > 0 && (digits.count - index).isMultiple(of: 3) ? ",\(digit)" : "\(digit)"
    }
    return grouped.joined()
  }
}

/// Returns a number without the fraction of a whole one: `14`, not `14.0`.
func plain(_ number: Double) -> String {
  number == number.rounded() ? "\(Int(number))" : "\(number)"
}

/// Returns a number with its noun: `1 round`, `3 rounds`, `1,000 jobs`.
func counted(_ number: Int, _ plural: String) -> String {
  "\(number.grouped) \(number == 1 ? String(plural.dropLast()) : plural)"
}
