/// The rows of a table of a damaged file that cannot be read.
package struct LostRows: Hashable, Sendable {
  package let table: String
  /// The bounds of their number. They are equal if the number is known.
  package internal(set) var atLeast: Int64
  package internal(set) var atMost: Int64
  /// Descriptions of where they were, each on one line.
  package let ranges: [String]
  /// True for rows that were found and fit no table; `table` has them.
  package var isFound = false

  /// The number in words.
  var count: String { atLeast == atMost ? String(atMost) : "up to \(atMost)" }

  /// The number with the first ranges, on one line.
  var text: String {
    let what = isFound ? "rows that fit no table" : "rows cannot be read"
    let rest = ranges.count > 3 ? "; …" : ""
    return "\(table): \(count) \(what) (\(ranges.prefix(3).joined(separator: "; "))\(rest))"
  }
}
