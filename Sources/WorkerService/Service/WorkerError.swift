import EntityModel

/// The error of a worker that cannot start.
public struct WorkerError: Error, Sendable, CustomStringConvertible {
  public enum Code: Sendable {
    /// Another worker serves the store.
    case busy
    case notPermitted
  }

  public let code: Code
  public let summary: StaticString
  public let context: [(String, String)]
  public let advice: String

  init(
    _ code: Code, _ summary: StaticString, _ context: [(String, String)], advice: String
  ) {
    self.code = code
    self.summary = summary
    self.context = context
    self.advice = advice
  }

  /// The summary, the context and the advice in one line.
  public var description: String { String(errorLine: summary, context, advice: advice) }
}
