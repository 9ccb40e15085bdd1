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
