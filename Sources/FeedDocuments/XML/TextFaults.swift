/// The faults of a text that were repaired or skipped: their number, and the first one.
struct TextFaults {
  private(set) var count = 0
  private(set) var first: (offset: Int, reason: String)?

  /// - Parameters:
  ///   - reason: The fault in words, of which only that of the first fault is used.
  ///   - offset: The byte of the text where the fault is.
  mutating func add(_ reason: @autoclosure () -> String, at offset: Int, count: Int = 1) {
    self.count += count
    if let first, first.offset <= offset { return }
    first = (offset, reason())
  }

  /// Adds the faults of the same text that another step has found.
  mutating func add(_ other: TextFaults) {
    guard let found = other.first else { return }
    add(found.reason, at: found.offset, count: other.count)
  }
}

/// A fault with the line of the document that it is in.
struct LineFault {
  let line: Int
  let reason: String

  /// - Parameter bytes: The text up to the fault.
  init(_ reason: String, after bytes: some Sequence<UInt8>, moreLines: Int = 0) {
    self.reason = reason
    line = bytes.count { $0 == UInt8(ascii: "\n") } + 1 + moreLines
  }

  /// Returns the one on the earlier line.
  static func first(_ faults: LineFault?...) -> LineFault? {
    faults.compactMap { $0 }.min { $0.line < $1.line }
  }

  /// A short line without hidden characters.
  var text: String { "line \(line): \(reason.excerpt(120))" }
}
