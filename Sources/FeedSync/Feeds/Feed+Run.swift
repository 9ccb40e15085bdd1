import Foundation

extension Feed {
  /// The feed as a run that came to its end leaves it.
  func after(
    _ frontier: RunFrontier, _ report: SyncReport, checkpoint: String?, at now: Date
  ) -> Feed {
    var feed = self
    feed.forgetErrors()
    feed.format = frontier.format ?? format
    feed.title = frontier.title ?? title
    if report.new + report.changed + report.deleted > 0 { feed.changedAt = now }
    // Not whole, or refused: the next run asks for everything again.
    guard report.outcome == .synced else {
      feed.forgetValidators()
      feed.forgetCheckpoint()
      return feed
    }
    let isDelta = frontier.mode == FeedMode.delta.rawValue
    feed.etag = frontier.etag
    feed.lastModified = frontier.lastModified
    feed.validatorsAt = now
    feed.bodyHash = frontier.bodyHash
    feed.epoch = frontier.epoch
    feed.version = frontier.version
    // A delta that names no new checkpoint can be asked for again: nothing of it is lost.
    feed.checkpoint = checkpoint ?? (isDelta ? self.checkpoint : nil)
    if !isDelta {
      feed.fullAt = now
      feed.lastItems = Int64(report.items)
    }
    return feed
  }

  /// Takes over what a run has found out; settings that were changed meanwhile stay.
  mutating func take(_ ended: Feed) {
    let (entity, every, tokenFile) = (entity, every, tokenFile)
    let (isPaused, isRemoved) = (isPaused, isRemoved)
    self = ended
    (self.entity, self.every, self.tokenFile) = (entity, every, tokenFile)
    (self.isPaused, self.isRemoved) = (isPaused, isRemoved)
  }

  func hasValidators(of other: Feed) -> Bool {
    etag == other.etag && lastModified == other.lastModified
  }

  mutating func forgetErrors() {
    errors = 0
    lastError = nil
    waitUntil = nil
  }
}
