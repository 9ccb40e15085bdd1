import FeedDocuments
import Foundation
import HTTPClient

/// The facts of the answer that began a run, kept until the run has ended: the server's statements
/// about the listing. Stored as JSON in the checkpoint of a run.
struct FirstAnswer: Codable, Sendable {
  /// The validators, verbatim.
  var etag: String?
  var lastModified: String?
  /// The URL that gave the answer, without the query item of a delta.
  var url: String
  var timeToLive: Int64?
  var freshFor: Int64?
  var permanentTarget: String?
  var isFromPrivateAddress: Bool

  /// - Parameter checkpoint: The start of the answer's delta.
  init(
    _ response: HTTPResponse, checkpoint: String?, timeToLive: Int64?, isOwn: Bool, now: Date
  ) {
    etag = response.validator("ETag")
    lastModified = response.validator("Last-Modified")
    url = PageAddress.withoutDelta(response.effectiveURL, since: checkpoint)
    self.timeToLive = timeToLive
    freshFor = Freshness.lifetime(
      Freshness.promise(of: response, now: now), timeToLive: timeToLive, isOwn: isOwn)
    permanentTarget = response.permanentTarget
    isFromPrivateAddress = response.isFromPrivateAddress
  }
}

extension Feed {
  /// Stores the answer's validators and promises, after all of its items are stored.
  mutating func apply(_ first: FirstAnswer, at now: Date) {
    etag = first.etag
    lastModified = first.lastModified
    validatorsURL = first.url
    validatorsAt = now
    applyPromise(of: first, at: now)
  }

  /// Stores an answer whose document is the one that is stored already.
  ///
  /// - Parameter renews: True if the age of the validators starts again even if they are the same.
  mutating func apply(repeated first: FirstAnswer, renews: Bool, at now: Date) {
    let old = (etag, lastModified, validatorsURL, validatorsAt)
    apply(first, at: now)
    let isSame = old.0 == etag && old.1 == lastModified && old.2 == validatorsURL
    if isSame, !renews { validatorsAt = old.3 }
  }

  /// Stores how long the answer stays fresh and where it came from.
  mutating func applyPromise(of first: FirstAnswer, at now: Date) {
    timeToLive = first.timeToLive
    freshFor = first.freshFor
    promisedFor = first.freshFor
    recordRedirect(to: first.permanentTarget, at: now)
  }

  /// Applies a 304. Its validators replace those of the request (RFC 9110, 15.4.5). It may shorten
  /// the time for which the document stays fresh until the next answer, but not extend it: some
  /// servers answer 304 for ever.
  mutating func apply(notModified response: HTTPResponse, at now: Date) {
    etag = response.validator("ETag") ?? etag
    lastModified = response.validator("Last-Modified") ?? lastModified
    recordRedirect(to: response.permanentTarget, at: now)
    freshFor = promisedFor
    guard let promisedFor, let promise = Freshness.promise(of: response, now: now) else { return }
    let lifetime = Freshness.lifetime(promise, timeToLive: timeToLive, isOwn: isOwn)
    freshFor = lifetime.map { min(promisedFor, $0) }
  }

  /// True if the feed's format is homefeed/1.
  var isOwn: Bool { format == FeedFormat.homeFeed1.rawValue }

  /// Returns the conditions of the next request for the listing, or for the delta since a
  /// checkpoint.
  func conditions(since checkpoint: String?) -> HTTPConditions {
    let url = validatorsURL ?? requestURL
    return HTTPConditions(
      url: checkpoint.map { PageAddress.delta(of: url, since: $0) } ?? url, etag: etag,
      lastModified: lastModified)
  }
}

extension HTTPResponse {
  /// Returns a validator verbatim; nil if it is empty or cannot be sent back.
  fileprivate func validator(_ name: String) -> String? {
    header(name).flatMap { $0.isEmpty || hasControlCharacter($0) ? nil : $0 }
  }
}

extension Freshness {
  /// Returns the seconds after an answer within which no request is needed; nil if nothing was
  /// promised.
  ///
  /// - Parameters:
  ///   - promise: The seconds in the headers.
  ///   - timeToLive: The seconds in the document itself.
  ///   - isOwn: True for homefeed/1, whose server may be asked more often.
  static func lifetime(_ promise: Int?, timeToLive: Int64?, isOwn: Bool) -> Int64? {
    let seconds = max(timeToLive ?? 0, Int64(promise ?? 0))
    guard seconds > 0 else { return nil }
    return min(
      max(seconds, isOwn ? SyncLimits.ownFreshMin : SyncLimits.freshMin), SyncLimits.freshMax)
  }
}
