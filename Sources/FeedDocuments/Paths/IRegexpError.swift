/// Why a text is not used as an I-Regexp.
struct IRegexpError: Error, Equatable, Sendable, CustomStringConvertible {
  /// Whether it is one, but larger than patterns may be.
  var isTooLarge = false
  /// What is wrong, and where.
  var description: String

  static var tooLarge: IRegexpError {
    IRegexpError(
      isTooLarge: true,
      description: "a pattern has at most \(IRegexp.scalarsMax) characters and, its repetitions "
        + "written out, \(IRegexp.sizeMax) parts: shorten it")
  }

  static func expected(_ what: String, at place: Int) -> IRegexpError {
    IRegexpError(
      description:
        "the pattern is no I-Regexp (RFC 9485): expected \(what) (character \(place + 1))")
  }
}
