import Foundation

/// The JSON coders of jobs. They are shared, because creating one takes as long as coding a small
/// job; both may be used by any number of threads at once.
enum JobJSON {
  static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()
  static let decoder = JSONDecoder()
}

extension Duration {
  /// Returns a duration from seconds that were stored: any number is within its range, where
  /// `seconds(_:)` traps. A NaN gives zero.
  package static func stored(seconds: Double) -> Duration {
    seconds.isNaN ? .zero : .seconds(min(max(seconds, -storedMax), storedMax))
  }

  /// 30,000 years. The sum with a time of a clock is within the range of one, too.
  private static let storedMax = 1e12

  /// The duration in seconds, with fractions.
  package var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}

extension String {
  /// The text in one line, cut to a length that can be stored with each attempt.
  var clipped: String {
    let line = String(map { $0.isNewline ? " " : $0 })
    guard line.utf8.count > Limits.textBytesMax else { return line }
    return String(decoding: line.utf8.prefix(Limits.textBytesMax), as: UTF8.self) + "…"
  }
}
