/// Quantities as people read them, the same in every locale.
public enum Formatting {
  /// A whole number with commas: `5,000`.
  public static func count(_ value: Int64) -> String {
    let digits = String(value.magnitude)
    var grouped = value < 0 ? "-" : ""
    for (index, digit) in digits.enumerated() {
      if index > 0, (digits.count - index).isMultiple(of: 3) { grouped += "," }
      grouped.append(digit)
    }
    return grouped
  }

  /// A size in decimal units: `812 B`, `1.2 MB`, `340 MB`.
  public static func bytes(_ value: Int64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"]
    guard value.magnitude >= 1000 else { return "\(value) B" }
    var scaled = Double(value) / 1000
    var unit = 0
    // 999.5 and more would be shown as 1000 of the smaller unit.
    while abs(scaled) >= 999.5, unit < units.count - 1 {
      scaled /= 1000
      unit += 1
    }
    return "\(rounded(scaled)) \(units[unit])"
  }

  /// A span of time in the unit that fits: `350 µs`, `12 ms`, `3.4 s`, `2 min 5 s`, `3 h 12 min`,
  /// `4 d 3 h`.
  public static func duration(_ value: Duration) -> String {
    guard value >= .zero else { return "-" + duration(.zero - value) }
    let microseconds = value / .microseconds(1)
    if microseconds < 999.5 { return "\(rounded(microseconds)) µs" }
    if microseconds < 999_500 { return "\(rounded(microseconds / 1000)) ms" }
    if microseconds < 59_500_000 { return "\(rounded(microseconds / 1_000_000)) s" }
    let seconds = Int64((microseconds / 1_000_000).rounded())
    if seconds < 3_600 { return "\(seconds / 60) min \(seconds % 60) s" }
    let minutes = (seconds + 30) / 60
    if minutes < 24 * 60 { return "\(minutes / 60) h \(minutes % 60) min" }
    let hours = (minutes + 30) / 60
    return "\(hours / 24) d \(hours % 24) h"
  }

  /// One digit after the point below ten, none above.
  private static func rounded(_ value: Double) -> String {
    let tenths = Int64((value * 10).rounded())
    if abs(tenths) >= 100 { return String(Int64(value.rounded())) }
    return "\(tenths < 0 ? "-" : "")\(abs(tenths) / 10).\(abs(tenths) % 10)"
  }
}
