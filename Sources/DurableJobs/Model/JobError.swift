import EntityModel

/// An error of a request about jobs, or the failure of a job that a caller waited for.
public struct JobError: Error, Sendable, CustomStringConvertible {
  /// The kind of an error.
  public enum Code: Sendable {
    case unknownJob, unknownQueue, unknownSchedule, unknownGroup, unknownKind
    case invalidRequest, invalidSchedule, badPayload, duplicate
    case lostClaim, lostRunner, wrongState, foreignHost, busy
    case notFinished, failed, cancelled, poisoned, timedOut
  }

  public let code: Code
  public let summary: StaticString
  public let context: [(String, String)]
  public let advice: String?

  init(
    _ code: Code, _ summary: StaticString, _ context: [(String, String)] = [],
    advice: String? = nil
  ) {
    self.code = code
    self.summary = summary
    self.context = context
    self.advice = advice
  }

  /// The summary, the context and the advice in one line.
  public var description: String { String(errorLine: summary, context, advice: advice) }
}
