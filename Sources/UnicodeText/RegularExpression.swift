import CMooringICU

/// A regular expression in the syntax of ICU, compiled.
// @unchecked: the compiled pattern is never matched with, only copied, which ICU allows to any
// threads at once.
package final class RegularExpression: @unchecked Sendable {
  /// Bytes of a pattern. Compiling takes longer than in proportion to them.
  package static let patternBytesMax = 16 << 10
  /// The longest time that matching one text may take, by the monotonic clock.
  package static let timeMax = Duration.milliseconds(100)
  /// The largest stack for backtracking in one text.
  package static let stackBytesMax = 8 << 20

  private let pattern: String
  private let regex: OpaquePointer

  /// - Throws: `UnicodeTextError` of code `patternInvalid` with what is wrong and where.
  package init(_ pattern: String, ignoresCase: Bool = false) throws(UnicodeTextError) {
    guard pattern.utf8.count <= Self.patternBytesMax else {
      throw UnicodeTextError(
        .patternInvalid, "the regular expression is too long",
        context: [("bytes", "\(pattern.utf8.count)"), ("limit", "\(Self.patternBytesMax)")],
        advice: "shorten the pattern")
    }
    var line: Int32 = 0
    var offset: Int32 = 0
    var status: mooring_icu_status = 0
    let bytes = Array(pattern.utf8)
    guard
      let regex = mooring_regex_open(
        bytes, bytes.count, ignoresCase ? 1 : 0, &line, &offset, &status)
    else {
      let place = line > 1 ? "line \(line), character \(offset)" : "character \(offset)"
      throw UnicodeTextError(
        .patternInvalid, "the text is no regular expression",
        context: [
          ("pattern", pattern), ("mistake", Self.mistake(status)), ("at", place),
        ],
        advice: "correct the pattern; a backslash makes the next character literal")
    }
    self.pattern = pattern
    self.regex = regex
  }

  deinit { mooring_regex_close(regex) }

  /// Returns a matcher. Each thread needs one of its own.
  package func matcher() throws(UnicodeTextError) -> Matcher {
    var status: mooring_icu_status = 0
    guard let copy = mooring_regex_clone(regex, &status) else {
      throw failure(status)
    }
    return Matcher(copy, of: self)
  }

  /// Matches texts, on one thread at a time.
  package final class Matcher {
    private let regex: OpaquePointer
    private let expression: RegularExpression

    fileprivate init(_ regex: OpaquePointer, of expression: RegularExpression) {
      self.regex = regex
      self.expression = expression
    }

    deinit { mooring_regex_close(regex) }

    /// Returns true if the expression matches the whole text. Ill-formed sequences count as U+FFFD.
    ///
    /// - Throws: `UnicodeTextError` of code `matchingTooCostly` if that takes more than
    ///   `timeMax` or `stackBytesMax`. The matcher stays usable.
    package func matchesWhole(_ text: UnsafeRawBufferPointer) throws(UnicodeTextError) -> Bool {
      var status: mooring_icu_status = 0
      // SAFETY: ICU reads within the text's length, and keeps nothing of it.
      let match = mooring_regex_matches(
        regex, text.baseAddress, text.count,
        Int64(RegularExpression.timeMax / .nanoseconds(1)),
        Int32(RegularExpression.stackBytesMax), &status)
      return switch match {
      case MOORING_MATCH_NO: false
      case MOORING_MATCH_YES: true
      case MOORING_MATCH_TOO_LONG:
        throw expression.tooCostly(
          "a regular expression takes too long for a text",
          limit: "\(RegularExpression.timeMax / .milliseconds(1)) ms", textBytes: text.count)
      case MOORING_MATCH_TOO_DEEP:
        throw expression.tooCostly(
          "a regular expression takes too much memory for a text",
          limit: "\(RegularExpression.stackBytesMax) bytes", textBytes: text.count)
      default: throw expression.failure(status)
      }
    }
  }
}

extension RegularExpression {
  fileprivate func tooCostly(
    _ summary: StaticString, limit: String, textBytes: Int
  ) -> UnicodeTextError {
    UnicodeTextError(
      .matchingTooCostly, summary,
      context: [("pattern", pattern), ("limit", limit), ("bytes of the text", "\(textBytes)")],
      advice: "avoid repetitions inside repetitions, or make them possessive (`++`, `*+`)")
  }

  fileprivate func failure(_ status: mooring_icu_status) -> UnicodeTextError {
    UnicodeTextError(
      .other, "ICU cannot match a regular expression",
      context: [("pattern", pattern), ("cause", UnicodeTextError.name(of: status))],
      advice: "simplify the pattern")
  }

  /// ICU's name for a mistake, as words.
  private static func mistake(_ status: mooring_icu_status) -> String {
    let name = UnicodeTextError.name(of: status)
    return switch name {
    case "U_REGEX_RULE_SYNTAX": "a character that means nothing here"
    case "U_REGEX_BAD_ESCAPE_SEQUENCE": "an unknown escape"
    case "U_REGEX_PROPERTY_SYNTAX": "an unknown Unicode property"
    case "U_REGEX_UNIMPLEMENTED": "a construct that ICU does not have"
    case "U_REGEX_MISMATCHED_PAREN": "a parenthesis without its counterpart"
    case "U_REGEX_MISSING_CLOSE_BRACKET": "a bracket that is not closed"
    case "U_REGEX_NUMBER_TOO_BIG": "a number that is too big"
    case "U_REGEX_BAD_INTERVAL": "a mistake in {min,max}"
    case "U_REGEX_MAX_LT_MIN": "a maximum below its minimum"
    case "U_REGEX_INVALID_BACK_REF": "a reference to a group that is not there"
    case "U_REGEX_INVALID_FLAG": "an unknown flag"
    case "U_REGEX_LOOK_BEHIND_LIMIT": "a look-behind without a bound"
    case "U_REGEX_SET_CONTAINS_STRING": "a set that holds a text"
    case "U_REGEX_INVALID_RANGE": "a range whose end is before its beginning"
    case "U_REGEX_PATTERN_TOO_BIG": "a pattern that becomes too big"
    case "U_REGEX_INVALID_CAPTURE_GROUP_NAME": "an invalid group name"
    default: name
    }
  }
}
