import EntityModel

/// Why a run failed. What it had committed stays, and the next run goes on from there.
public struct SyncError: Error, Sendable, CustomStringConvertible {
  public enum Code: Sendable {
    case unknownFeed, invalidFeed, paused, busy, waiting, gone, notFound, badStatus, badDocument
    case tooManyRejected, emptied, repeatedPage, tooManyPages, foreignPage, missingTarget
    case unaskedNotModified, missingToken
    /// The files beside the store cannot be used.
    case notPermitted, inputOutput
  }

  public let code: Code
  public let summary: StaticString
  public let context: [(String, String)]
  public let advice: String?
  /// The listing cannot be gone on with: the next run must begin it anew.
  let endsListing: Bool
  /// What the server said instead of giving a page.
  let refusal: Refusal?

  struct Refusal: Sendable {
    let status: Int
    let host: String?
    /// Seconds that it asked to wait, bounded.
    let retryAfter: Double?
    /// What it took to learn it.
    let requests: Int
    let bytes: Int
  }

  init(
    _ code: Code, _ summary: StaticString, _ context: [(String, String)] = [],
    advice: String? = nil, endsListing: Bool = false, refusal: Refusal? = nil
  ) {
    self.code = code
    self.summary = summary
    self.context = context
    self.advice = advice
    self.endsListing = endsListing
    self.refusal = refusal
  }

  /// One line.
  public var description: String { String(errorLine: summary, context, advice: advice) }
}
