/// A mistake in a format string, with its place.
public struct PredicateFormatError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The expected text and the remedy, in one line.
  public let message: String
  /// The place in `format`, in UTF-8 bytes from its start.
  public let offset: Int
  public let format: String

  package init(message: String, offset: Int, format: String) {
    self.message = message
    self.offset = offset
    self.format = format
  }

  public var description: String { "byte \(offset) of the predicate format: \(message)" }

  /// Two lines for a terminal: the format, or 76 characters of it around the place, and a `^` under
  /// the place. Control characters are replaced by spaces.
  public var caret: String {
    let reach = 38
    let scalars = format.unicodeScalars
    let place =
      format.utf8.index(format.startIndex, offsetBy: offset, limitedBy: format.endIndex)
      ?? format.endIndex
    let start =
      scalars.index(place, offsetBy: -reach, limitedBy: scalars.startIndex) ?? scalars.startIndex
    let end = scalars.index(place, offsetBy: reach, limitedBy: scalars.endIndex) ?? scalars.endIndex
    let before = Self.printable(scalars[start..<place])
    let after = Self.printable(scalars[place..<end])
    return before + after + "\n" + String(repeating: " ", count: before.count) + "^"
  }

  /// Returns a part of a format so that it fits in one line of a message.
  static func printable(_ text: Substring.UnicodeScalarView) -> String {
    var shown = String.UnicodeScalarView()
    for scalar in text {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator: shown.append(" ")
      default: shown.append(scalar)
      }
    }
    return String(shown)
  }
}
