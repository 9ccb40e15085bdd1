/// The text of durations: a whole number and a unit.
package enum TimeText {
  private static let units: [(name: String, milliseconds: Int64)] = [
    ("d", 86_400_000), ("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1),
  ]

  /// - Returns: `nil` if the text is not digits and `ms`, `s`, `m`, `h` or `d`, or exceeds 64 bits.
  package static func duration(_ text: String) -> Duration? {
    guard let (number, unit) = quantity(text),
      let milliseconds = units.first(where: { $0.name == unit })?.milliseconds
    else { return nil }
    let (total, overflows) = number.multipliedReportingOverflow(by: milliseconds)
    return overflows ? nil : .milliseconds(total)
  }

  /// Returns the text in the largest unit that needs no fraction. Parts of a millisecond are
  /// dropped.
  static func of(_ duration: Duration) -> String {
    let (seconds, attoseconds) = duration.components
    let milliseconds = seconds * 1_000 + attoseconds / 1_000_000_000_000_000
    guard milliseconds != 0 else { return "0s" }
    for unit in units where milliseconds.isMultiple(of: unit.milliseconds) {
      return "\(milliseconds / unit.milliseconds)\(unit.name)"
    }
    return "\(milliseconds)ms"
  }
}

/// The text of sizes: a whole number and a unit, which is a power of 1,024.
enum SizeText {
  private static let units: [(name: String, shift: Int64)] = [
    ("TiB", 40), ("GiB", 30), ("MiB", 20), ("KiB", 10), ("B", 0),
  ]

  /// - Returns: `nil` if the text is not digits and a unit (`64MiB`, or `64M` as for `--map-size`),
  ///   or exceeds 64 bits.
  static func bytes(_ text: String) -> Int64? {
    guard let (number, name) = quantity(text),
      let unit = units.first(where: { $0.name == name || $0.name == name + "iB" })
    else { return nil }
    let (total, overflows) = number.multipliedReportingOverflow(by: 1 << unit.shift)
    return overflows ? nil : total
  }

  /// Returns the text in the largest unit that needs no fraction.
  static func of(_ bytes: Int64) -> String {
    guard bytes != 0 else { return "0B" }
    for unit in units where bytes.isMultiple(of: 1 << unit.shift) {
      return "\(bytes >> unit.shift)\(unit.name)"
    }
    return "\(bytes)B"
  }
}

/// Splits a text into its leading digits and the rest.
private func quantity(_ text: String) -> (Int64, unit: String)? {
  let digits = text.prefix { $0.isASCII && $0.isWholeNumber }
  guard let number = Int64(digits) else { return nil }
  return (number, String(text.dropFirst(digits.count)))
}
