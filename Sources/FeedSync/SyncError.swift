/// Why a run failed. What it had committed stays, and the next run goes on from there.
public struct SyncError: Error, Sendable, CustomStringConvertible {
  public enum Code: Sendable {
    case unknownFeed, invalidFeed, paused, busy, waiting, gone, badStatus, badDocument
    case tooManyRejected, emptied, repeatedPage, tooManyPages, foreignPage, missingTarget
    case unaskedNotModified, missingToken
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

  public var description: String {
    var text = "\(summary)"
    if !context.isEmpty {
      text += " (" + context.map { "\($0.0): \($0.1)" }.joined(separator: ", ") + ")"
    }
    if let advice { text += "; " + advice }
    return text
  }
}
