/// Why a JSONPath expression cannot be used, or why following it was given up.
struct JSONPathError: Error, Equatable, Sendable {
  enum Code: String, Sendable {
    /// The text is not an expression of RFC 9535.
    case syntax
    /// The grammar allows it, the types of RFC 9535 section 2.4.3 do not.
    case type
    /// Longer, or more deeply nested, than expressions may be.
    case tooComplex
    /// Following it in this document takes more steps than allowed.
    case tooMuchWork
    /// It selects more nodes than are kept.
    case tooManyNodes
  }

  var code: Code
  /// What is expected or allowed, and what to do.
  var message: String
  /// The byte of the expression, in UTF-8, at which it shows; nil while following it.
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
