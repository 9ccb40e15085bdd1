import FeedDocuments
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
    feed.mappingHash = frontier.mappingHash
    feed.identity = frontier.identity
    if report.new + report.changed + report.deleted > 0 { feed.changedAt = now }
    // Not whole, or refused: the next run asks for everything again.
    guard report.outcome == .synced else {
      feed.forgetValidators()
      feed.forgetCheckpoint()
      if let first = frontier.first { feed.promise(first, at: now) }
      return feed
    }
    let isDelta = frontier.mode == FeedMode.delta.rawValue
    if let first = frontier.first { feed.take(first, at: now) }
    feed.bodyHash = frontier.bodyHash
    feed.epoch = frontier.epoch
    feed.version = frontier.version
    // A delta that names no new checkpoint can be asked for again: nothing of it is lost.
    feed.checkpoint = checkpoint ?? (isDelta ? self.checkpoint : nil)
    // Of a mapped feed that lists changes only its own URL gives all that there is.
    let isFromStart =
      !isDelta || frontier.format != FeedFormat.homeFeed1.rawValue && frontier.beganWith == nil
    if isFromStart, !frontier.isNewestOnly { feed.fullAt = now }
    if !isDelta { feed.lastItems = Int64(report.items - report.unknownKinds - report.rejected) }
    return feed
  }

  /// Takes over what a run has found out; settings that were changed meanwhile stay.
  mutating func take(_ ended: Feed) {
    let (entity, every, mapping) = (entity, every, mapping)
    let (tokenFile, credential) = (tokenFile, credential)
    let (isPaused, isRemoved) = (isPaused, isRemoved)
    let isOther = settingsHash != ended.settingsHash
    self = ended
    (self.entity, self.every, self.mapping) = (entity, every, mapping)
    (self.tokenFile, self.credential) = (tokenFile, credential)
    (self.isPaused, self.isRemoved) = (isPaused, isRemoved)
    // What the run has stored is not what the new settings ask for.
    if isOther { forgetAnswers() }
  }

  mutating func forgetErrors() {
    errors = 0
    learnedErrors = 0
    lastError = nil
    lastStatus = nil
    goneAt = nil
    waitUntil = nil
  }
}
