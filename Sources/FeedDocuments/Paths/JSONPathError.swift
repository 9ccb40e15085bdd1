/// The reason why a JSONPath expression cannot be used, or why its evaluation was stopped.
struct JSONPathError: Error, Equatable, Sendable {
  enum Code: String, Sendable {
    /// The text is not an expression of RFC 9535.
    case syntax
    /// The text follows the grammar, but not the types of RFC 9535 section 2.4.3.
    case type
    /// The expression is too long or too deeply nested.
    case tooComplex
    /// The evaluation in this document takes more steps than allowed.
    case tooMuchWork
    /// The expression selects more nodes than allowed.
    case tooManyNodes
  }

  var code: Code
  /// The expected or allowed form, and a suggestion.
  var message: String
  /// The byte offset in the expression, in UTF-8; nil for errors of the evaluation.
  var offset: Int?

  init(_ code: Code, _ message: String, at offset: Int? = nil) {
    self.code = code
    self.message = message
    self.offset = offset
  }
}

extension JSONPathError: CustomStringConvertible {
  var description: String {
    offset.map { "JSONPath: \(message) (byte \($0))" } ?? "JSONPath: \(message)"
  }
}
