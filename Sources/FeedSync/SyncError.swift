import EntityModel

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
  /// The listing cannot be gone on with: the next run must begin it anew.
  let endsListing: Bool

  init(
    _ code: Code, _ summary: StaticString, _ context: [(String, String)] = [],
    advice: String? = nil, endsListing: Bool = false
  ) {
    self.code = code
    self.summary = summary
    self.context = context
    self.advice = advice
    self.endsListing = endsListing
  }

  /// One line.
  public var description: String { String(errorLine: summary, context, advice: advice) }
}
