public import EntityModel

/// An error that a command finds itself, with the status it ends with.
public struct CommandError: ExitStatusProviding, CustomStringConvertible {
  public let exitStatus: ExitStatus
  public let description: String

  /// - Parameter description: One line: what is wrong, and what to do.
  public init(_ status: ExitStatus, _ description: String) {
    exitStatus = status
    self.description = description
  }
}

/// A mistake in a text of the command line: the message, then the text with a `^` under the place.
public struct PlacedError: ExitStatusProviding, CustomStringConvertible {
  public let description: String
  /// Two lines.
  let excerpt: [String]

  public var exitStatus: ExitStatus { .usage }

  /// - Parameter option: The option that holds the text, such as `--where`.
  public init(_ option: String, _ error: PredicateFormatError, message: String? = nil) {
    description = "\(option): \(message ?? error.message)"
    let lines = error.caret.split(separator: "\n", omittingEmptySubsequences: false).map(
      String.init)
    // The caret counts characters, and on a terminal some of them are two columns wide.
    let before = String(lines[0].prefix(lines[1].count - 1))
    excerpt = [lines[0], String(repeating: " ", count: before.displayWidth) + "^"]
  }
}
