import Foundation

/// JSON as jobs are written and read. Coders are kept, as to make one and to set it up takes as long as
/// to code a small job; both may be used by any number of threads at once.
enum JobJSON {
  static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()
  static let decoder = JSONDecoder()
}

extension Duration {
  package var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) * 1e-18
  }
}

extension String {
  /// Short enough to be stored with every attempt, in one line.
  var clipped: String {
    let line = String(map { $0.isNewline ? " " : $0 })
    guard line.utf8.count > Limits.textBytesMax else { return line }
    return String(decoding: line.utf8.prefix(Limits.textBytesMax), as: UTF8.self) + "…"
  }
}
