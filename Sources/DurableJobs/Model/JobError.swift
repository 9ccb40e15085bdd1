import EntityModel

/// Why a request about jobs was refused, or how a job ended that somebody waited for.
public struct JobError: Error, Sendable, CustomStringConvertible {
  public enum Code: Sendable {
    case unknownJob, unknownQueue, unknownSchedule, unknownBatch, unknownKind
    case invalidRequest, invalidSchedule, badPayload, duplicate
    case lostClaim, wrongState, foreignHost, busy
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

  /// One line.
  public var description: String { String(errorLine: summary, context, advice: advice) }
}
