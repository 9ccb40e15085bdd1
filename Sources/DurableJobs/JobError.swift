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

  /// One line: what a job or a caller says in it cannot break out of it.
  public var description: String {
    var text = "\(summary)"
    if !context.isEmpty {
      text += " (" + context.map { "\($0.0): \($0.1)" }.joined(separator: ", ") + ")"
    }
    if let advice { text += "; " + advice }
    return String(text.map { $0.isControlCharacter ? "\u{fffd}" : $0 })
  }
}

extension Character {
  fileprivate var isControlCharacter: Bool {
    isNewline || unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
