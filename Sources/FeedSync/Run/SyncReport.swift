/// What one run did.
public struct SyncReport: Codable, Sendable {
  public enum Outcome: String, Codable, Sendable {
    case synced
    /// The server said 304, or sent the same bytes as before.
    case notModified
    /// Everything was stored, but so many records would have been deleted that none were.
    case deletionsRefused
    /// Items were stored, but the listing was not whole, so nothing was deleted.
    case incomplete
  }

  public struct Rejection: Codable, Sendable {
    public var id: String?
    public var reason: String
  }

  public var feed: String
  public var outcome = Outcome.synced
  /// `full`, `delta` or `window`; empty where no document was read.
  public var mode = ""
  public var isResumed = false
  public var new = 0
  public var changed = 0
  public var unchanged = 0
  public var deleted = 0
  /// How many of `deleted` a full listing did not have any more.
  public var absent = 0
  /// Older than what is stored, listed twice, or deleted since.
  public var skipped = 0
  public var rejected = 0
  public var unknownKinds = 0
  /// Optional values of a wrong type, left out of items that were stored, and entries of the user's
  /// values that cannot be read.
  public var dropped = 0
  /// Dates too far in the future, brought back to a day from now.
  public var futureDates = 0
  /// Two contents under one revision.
  public var revisionClashes = 0
  /// Values of the user that were taken over from the server.
  public var userValues = 0
  /// How many records a refused deletion would have removed.
  public var refusedDeletions = 0
  public var pages = 0
  public var requests = 0
  /// As transferred.
  public var bytes = 0
  public var rejections: [Rejection] = []

  public init(feed: String) { self.feed = feed }

  /// How many items the feed listed.
  public var items: Int {
    new + changed + unchanged + deleted - absent + skipped + rejected + unknownKinds
  }

  mutating func reject(_ id: String?, _ reason: String) {
    rejected += 1
    note(id, reason)
  }

  mutating func drop(_ id: String?, _ reason: String) {
    dropped += 1
    note(id, reason)
  }

  private mutating func note(_ id: String?, _ reason: String) {
    guard rejections.count < Limits.rejectionsListedMax else { return }
    rejections.append(Rejection(id: id, reason: reason))
  }
}
