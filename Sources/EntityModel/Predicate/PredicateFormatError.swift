/// Why a format string is no predicate, and where.
public struct PredicateFormatError: Error, Sendable, Hashable, CustomStringConvertible {
  /// What was expected and what to do, in one line.
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

  /// Two lines for a terminal: the format, or the 76 characters around the place, and a `^` under
  /// it. Control characters show as spaces.
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

  /// Text from a format as it can stand in one line.
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
