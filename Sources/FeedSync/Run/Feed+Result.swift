import FeedDocuments
import Foundation

extension Feed {
  /// Returns the feed as a run that has ended leaves it.
  ///
  /// - Parameter nextDelta: The start of the next delta, from the last page.
  func after(
    _ run: SyncCheckpoint, _ report: SyncReport, nextDelta: String?, at now: Date
  ) -> Feed {
    var feed = self
    feed.forgetErrors()
    feed.format = run.format ?? format
    feed.title = run.title ?? title
    feed.mappingHash = run.mappingHash
    feed.identity = run.identity
    if report.new + report.changed + report.deleted > 0 { feed.changedAt = now }
    // After an incomplete listing or refused deletions the next run requests everything again.
    guard report.outcome == .synced else {
      feed.forgetValidators()
      feed.forgetCheckpoint()
      if let first = run.first { feed.applyPromise(of: first, at: now) }
      return feed
    }
    let isDelta = run.mode == FeedMode.delta.rawValue
    if let first = run.first { feed.apply(first, at: now) }
    feed.bodyHash = run.bodyHash
    feed.epoch = run.epoch
    feed.version = run.version
    // A delta without a new checkpoint can be requested again: nothing is lost.
    feed.checkpoint = nextDelta ?? (isDelta ? self.checkpoint : nil)
    // A mapped feed that lists changes gives the whole listing only at its own URL.
    let isFromStart =
      !isDelta || run.format != FeedFormat.homeFeed1.rawValue && run.beganWith == nil
    if isFromStart, !run.isNewestOnly { feed.fullAt = now }
    if !isDelta { feed.lastItems = Int64(report.items - report.unknownKinds - report.rejected) }
    return feed
  }

  /// Stores the result of a run. Settings that were changed during the run stay.
  mutating func merge(_ ended: Feed) {
    let (entity, every, mapping) = (entity, every, mapping)
    let (secrets, sizeLimit, timeLimit) = (secrets, sizeLimit, timeLimit)
    let (isPaused, isRemoved, addedAt) = (isPaused, isRemoved, addedAt)
    let allowsPrivateAddress = allowsPrivateAddress
    let (customTitle, folder, categories) = (customTitle, folder, categories)
    let isOther = settingsHash != ended.settingsHash
    self = ended
    (self.entity, self.every, self.mapping) = (entity, every, mapping)
    (self.secrets, self.sizeLimit, self.timeLimit) = (secrets, sizeLimit, timeLimit)
    (self.isPaused, self.isRemoved, self.addedAt) = (isPaused, isRemoved, addedAt)
    self.allowsPrivateAddress = allowsPrivateAddress
    (self.folder, self.categories) = (folder, categories)
    // The title of an OPML file is mostly the feed's own, which the publisher may change.
    self.customTitle = customTitle == title ? nil : customTitle
    // The run has stored the items of the old settings.
    if isOther { forgetAnswers() }
  }
}
