import CMooringICU

/// A mistake in a locale or a pattern, or a failure of matching, with advice.
package struct UnicodeTextError: Error, Sendable, CustomStringConvertible {
  package enum Code: Sendable {
    /// ICU has no data for the locale.
    case localeUnknown
    /// The text is no regular expression.
    case patternInvalid
    /// A regular expression needs too long, or too much memory, for a text.
    case matchingTooCostly
    /// ICU failed in another way; the context has its own name for it.
    case other
  }

  package let code: Code
  /// Never interpolated, so that failures can be counted by it.
  package let summary: StaticString
  package let context: [(String, String)]
  package let advice: StaticString

  init(
    _ code: Code, _ summary: StaticString, context: [(String, String)] = [], advice: StaticString
  ) {
    self.code = code
    self.summary = summary
    self.context = context
    self.advice = advice
  }

  /// One line: what, with which values, and what to do.
  package var description: String {
    let values = context.map { "\($0.0): \($0.1)" }.joined(separator: ", ")
    return "\(summary)\(values.isEmpty ? "" : " (\(values))"); \(advice)"
  }

  /// ICU's name for a status, such as `U_MISSING_RESOURCE_ERROR`.
  static func name(of status: mooring_icu_status) -> String {
    // SAFETY: ICU's names are constant strings, and never null.
    String(cString: mooring_icu_status_name(status))
  }
}
