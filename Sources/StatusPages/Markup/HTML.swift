import Console

/// A piece of HTML. Literals are markup; interpolated texts are escaped, so that no text of a feed
/// can become markup.
///
///     let cell: HTML = "<td>\(title)</td>"
struct HTML: Sendable, ExpressibleByStringInterpolation {
  private(set) var text: String

  init(stringLiteral literal: String) { text = literal }
  init(stringInterpolation interpolation: StringInterpolation) { text = interpolation.text }

  /// Markup that is not escaped. Only for constants of the program.
  init(verbatim text: String) { self.text = text }

  static let none: HTML = ""

  /// Joins pieces without anything between them.
  init(_ pieces: some Sequence<HTML>) { text = pieces.map(\.text).joined() }

  static func + (left: HTML, right: HTML) -> HTML {
    var sum = left
    sum.text += right.text
    return sum
  }

  static func += (left: inout HTML, right: HTML) { left.text += right.text }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: String) { text += literal }
    mutating func appendInterpolation(_ html: HTML) { text += html.text }
    mutating func appendInterpolation(_ number: Int) { text += "\(number)" }
    mutating func appendInterpolation(_ value: String) { text += HTML.escaped(value) }

    /// A number of a coordinate, with one digit after the point.
    mutating func appendInterpolation(_ number: Double) {
      text += "\((number * 10).rounded() / 10)"
    }
  }

  /// The longest text that is shown, in characters.
  private static let lengthMax = 4_000

  /// Returns the text with the characters of markup escaped, and without those that are not seen
  /// and could change how the page is read.
  private static func escaped(_ text: String) -> String {
    let isLong = text.utf8.count > lengthMax && text.count > lengthMax
    var escaped = ""
    for scalar in (isLong ? text.prefix(lengthMax) + "…" : text[...]).description.singleLine
      .unicodeScalars
    {
      switch scalar {
      case "&": escaped += "&amp;"
      case "<": escaped += "&lt;"
      case ">": escaped += "&gt;"
      case "\"": escaped += "&quot;"
      case "'": escaped += "&#39;"
      // Noncharacters are in no document.
      case _ where scalar.value & 0xFFFE == 0xFFFE: escaped += "\u{FFFD}"
      default: escaped.unicodeScalars.append(scalar)
      }
    }
    return escaped
  }
}
