import EntityModel

/// The failure of a run. The pages that it has committed stay, and the next run resumes there.
public struct SyncError: Error, Sendable, CustomStringConvertible {
  /// The kind of an error.
  public enum Code: String, Sendable {
    case unknownFeed, invalidFeed, paused, busy, waiting, gone, notFound, badDocument
    /// A status that a later request probably does not have.
    case badStatus
    /// A status that the same request will have again.
    case refused
    case tooManyRejected, nothingUsable, emptied
    case repeatedPage, tooManyPages, foreignPage, missingTarget
    case unaskedNotModified, missingSecret
    /// The feed had a public address before and has a private one now.
    case privateAddress
    /// The files next to the store cannot be used.
    case notPermitted, inputOutput
  }

  public let code: Code
  public let summary: StaticString
  public let context: [(String, String)]
  public let advice: String?
  /// True if the listing cannot be continued: the next run must read it from its start.
  let endsListing: Bool
  /// The server's answer in place of a page.
  let refusal: Refusal?
  /// True if the feed's own host had a public address in the answer that is refused.
  var isHostPublic = false
  /// The requests and transferred bytes of the page that has failed.
  var requests = 0
  var bytes = 0

  struct Refusal: Sendable {
    let status: Int
    let host: String?
    /// The seconds to wait that it requested, bounded.
    let retryAfter: Double?
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

  /// The error in one line.
  public var description: String { String(errorLine: summary, context, advice: advice) }
}
