/// The summary for a document that is nested too deeply. The tree builder finds most of them,
/// libyaml those that it reads ahead into.
let tooDeep = "collections are nested deeper than \(Limits.nestingMax) levels; flatten them"

/// A syntax error of libyaml, and its summary in words that name a remedy.
struct SyntaxProblem {
  let problem: String
  let position: Position
  let context: String?
  let contextPosition: Position
  /// The byte at the problem, or nil at the end of the text.
  let character: UInt8?

  func error(file: String) -> YAMLError {
    let (place, summary) = reworded()
    return YAMLError(file: file, line: place.line, column: place.column, summary: summary)
  }

  private func reworded() -> (Position, String) {
    switch problem {
    case "found character that cannot start any token",
      "found a tab character that violates indentation",
      "found a tab character where an indentation space is expected":
      return (position, unexpectedCharacter)
    case "mapping values are not allowed in this context":
      return (
        position, "a \":\" stands where no key can end; check the indentation, or quote the text"
      )
    case "could not find expected ':'":
      return (contextPosition, "a \":\" is missing after this key")
    case "found unexpected end of stream", "found unexpected document indicator":
      return (contextPosition, "the quoted text that starts here is not closed")
    case "did not find expected key", "did not find expected '-' indicator":
      return (
        position,
        "this does not fit into the \(collection) that starts at \(start); check the indentation"
      )
    case "did not find expected ',' or ']'" where character == nil,
      "did not find expected ',' or '}'" where character == nil:
      return (contextPosition, "the \(collection) that starts here is not closed")
    case "did not find expected ',' or ']'", "did not find expected ',' or '}'":
      let close = problem.hasSuffix("']'") ? "]" : "}"
      return (
        position, "expected \",\" or \"\(close)\" in the \(collection) that starts at \(start)"
      )
    case "found unknown escape character":
      return (
        position, "this escape is unknown; write \"\\\\\" for a backslash, or use single quotes"
      )
    case "found invalid Unicode character escape code":
      return (
        position,
        "this escape is not a character; write the character itself, or \\U and eight digits"
      )
    case "found undefined tag handle":
      return (position, "tags (\"!\") are not supported; remove it")
    case let deep where deep.hasPrefix("Maximum nesting level reached"):
      return (position, tooDeep)
    case "block sequence entries are not allowed in this context":
      return (position, "a \"-\" cannot stand here; start a new line for it, or quote it")
    default:
      return (position, "this is not valid YAML: \(problem)" + (context.map { " \($0)" } ?? ""))
    }
  }

  private var unexpectedCharacter: String {
    guard let character else { return "the text ends too early" }
    if character == UInt8(ascii: "\t") { return "a tab stands in the indentation; use spaces" }
    return "text cannot start with \"\(Character(Unicode.Scalar(character)))\"; quote it"
  }

  private var collection: String {
    context?.contains("sequence") == true || context?.contains("collection") == true
      ? "sequence" : "mapping"
  }

  private var start: String { "line \(contextPosition.line), column \(contextPosition.column)" }
}
