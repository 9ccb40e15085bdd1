import FeedDocuments
import Foundation
import HTTPClient

/// What is kept of the answer that began a run, until the run has ended: the state of the whole
/// listing, by its server's word.
struct FirstAnswer: Codable, Sendable {
  /// Both exactly as the server gave them.
  var etag: String?
  var lastModified: String?
  /// The URL that gave the answer, without the part of a delta.
  var url: String
  var timeToLive: Int64?
  var freshFor: Int64?
  var permanentTarget: String?
  var isFromPrivateAddress: Bool

  /// - Parameter checkpoint: What the answer's delta began with.
  init(
    _ response: HTTPResponse, checkpoint: String?, timeToLive: Int64?, isOwn: Bool, now: Date
  ) {
    etag = PageSource.validator("ETag", of: response)
    lastModified = PageSource.validator("Last-Modified", of: response)
    url = PageAddress.withoutDelta(response.effectiveURL, since: checkpoint)
    self.timeToLive = timeToLive
    freshFor = Freshness.lifetime(
      Freshness.promise(of: response, now: now), timeToLive: timeToLive, isOwn: isOwn)
    permanentTarget = response.permanentTarget
    isFromPrivateAddress = response.isFromPrivateAddress
  }
}

extension Feed {
  /// Takes over what a whole answer says, once all that it stands for is stored.
  mutating func take(_ first: FirstAnswer, at now: Date) {
    etag = first.etag
    lastModified = first.lastModified
    validatorsURL = first.url
    validatorsAt = now
    promise(first, at: now)
  }

  /// Takes over the answer to a request that was conditional on nothing, or might as well have been:
  /// its document is the one that is stored.
  ///
  /// - Parameter renews: The validators count as new though they are the same.
  mutating func take(again first: FirstAnswer, renews: Bool, at now: Date) {
    let old = (etag, lastModified, validatorsURL, validatorsAt)
    take(first, at: now)
    let isSame = old.0 == etag && old.1 == lastModified && old.2 == validatorsURL
    if isSame, !renews { validatorsAt = old.3 }
  }

  /// Takes over how long the answer is good, and where it came from.
  mutating func promise(_ first: FirstAnswer, at now: Date) {
    timeToLive = first.timeToLive
    freshFor = first.freshFor
    promisedFor = first.freshFor
    observe(moveTo: first.permanentTarget, at: now)
  }

  /// Takes over what a 304 says: its validators replace those of the request (RFC 9110, 15.4.5), and
  /// it may shorten the time for which the document is good until the next answer, but not lengthen
  /// it: servers are known that answer 304 for ever.
  mutating func take(notModified response: HTTPResponse, at now: Date) {
    etag = PageSource.validator("ETag", of: response) ?? etag
    lastModified = PageSource.validator("Last-Modified", of: response) ?? lastModified
    observe(moveTo: response.permanentTarget, at: now)
    freshFor = promisedFor
    let promise = Freshness.promise(of: response, now: now)
    guard let promisedFor, promise != .none else { return }
    let lifetime = Freshness.lifetime(promise, timeToLive: timeToLive, isOwn: isOwn)
    freshFor = lifetime.map { min(promisedFor, $0) }
  }

  /// Whether the feed speaks homefeed/1, which is ours.
  var isOwn: Bool { format == FeedFormat.homeFeed1.rawValue }

  /// What the next request for the listing, or for the delta since a checkpoint, is conditional on.
  func conditions(since checkpoint: String?) -> HTTPConditions {
    let url = validatorsURL ?? requestURL
    return HTTPConditions(
      url: checkpoint.map { PageAddress.delta(of: url, since: $0) } ?? url, etag: etag,
      lastModified: lastModified)
  }
}
