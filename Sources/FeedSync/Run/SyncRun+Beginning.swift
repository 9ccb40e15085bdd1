import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import HTTPClient

/// What a run begins with: a delta, the whole listing, or where an interrupted run has come to.
extension SyncRun {
  /// Chooses between a delta and the whole listing, or goes on with an interrupted run.
  mutating func begin() async throws {
    let interrupted = try await interruptedRun()
    let isRecent =
      interrupted.map {
        now.timeIntervalSince1970 - $0.frontier.startedAt < Limits.resumeAgeMax
          && now.timeIntervalSince1970 >= $0.frontier.startedAt
      } ?? false
    if let interrupted, isRecent, interrupted.frontier.settings == feed.settingsHash,
      !(options.isFull && interrupted.frontier.mode == "delta"),
      interrupted.frontier.mappingHash
        == source.mappings.hash(lastFormat: interrupted.frontier.format ?? feed.format)
    {
      frontier = interrupted.frontier
      frontier.report.isResumed = true
      commits = interrupted.chunks
      try store.read { try seen.load(feedID: id, in: $0) }
      return
    }
    if let interrupted { try await drop(FeedMode(rawValue: interrupted.frontier.mode)) }
    if let checkpoint = feed.checkpoint, !options.isFull, !needsFullRun {
      // Of a feed that is read by a mapping it is a URL.
      frontier.next =
        readsHomeFeed
        ? PageAddress.delta(of: feed.requestURL, since: checkpoint) : checkpoint
      frontier.beganWith = checkpoint
    }
    // A listing that is to heal what deltas missed is of use only whole.
    let heals = feed.checkpoint != nil && needsFullRun
    if !options.isFull, !heals, !hasNewMapping, !areValidatorsOld {
      conditions = feed.conditions(
        since: asksForDelta && readsHomeFeed ? feed.checkpoint : nil)
    }
  }

  /// A frontier that this program cannot read is as good as none.
  private mutating func interruptedRun() async throws -> ChunkedWrite<RunFrontier>.Progress? {
    let write = write
    do {
      return try store.read { try write.load(in: $0) }
    } catch let error as StoreError where error.code == .damaged {
      // It may have been of a window.
      try await drop(.window)
      return nil
    }
  }

  private var readsHomeFeed: Bool { source.mappings.readsHomeFeed(lastFormat: feed.format) }

  var asksForDelta: Bool {
    frontier.pages == 0 && frontier.next != feed.requestURL
  }

  var areValidatorsOld: Bool {
    let age = feed.validatorsAt.map { now.timeIntervalSince($0) } ?? .infinity
    return age < 0 || age >= Limits.validatorsAgeMax
  }

  /// What is stored was read by another mapping: everything is fetched and compared anew.
  var hasNewMapping: Bool { expectedMapping != feed.mappingHash }

  var needsFullRun: Bool {
    guard let fullAt = feed.fullAt, !hasNewMapping, !hasGap else { return true }
    return abs(now.timeIntervalSince(fullAt)) > Limits.fullRunAgeMax
  }

  /// Whether changes are missing between what is stored and what the delta begins with.
  func isGap(_ page: FeedPage) -> Bool {
    guard page.mode == .delta else { return false }
    if let epoch = feed.epoch, epoch != page.epoch { return true }
    if let since = page.since, let version = feed.version { return since > version }
    return false
  }

  mutating func restartInFull() async throws {
    guard frontier.next != feed.requestURL, !hasRestarted else {
      throw SyncError(
        .badStatus, "the server asks for a full run though it was asked for one",
        [("url", shownURL(frontier.next))], advice: "tell the feed's publisher", endsListing: true)
    }
    hasRestarted = true
    hasGap = true
    try await drop(FeedMode(rawValue: frontier.mode))
    let requests = (frontier.report.requests, frontier.report.bytes)
    frontier = RunFrontier(
      mode: "", startedAt: now.timeIntervalSince1970, next: feed.requestURL,
      settings: feed.settingsHash, report: SyncReport(feed: feed.url))
    (frontier.report.requests, frontier.report.bytes) = requests
    conditions = nil
    seen = SeenRecords()
    changes = PageChanges()
    gathered = 0
    gatheredBytes = 0
    commits = 0
  }

  /// Forgets how far a run has come.
  ///
  /// - Parameter mode: Of that run; nil if it has stored nothing. Behind the newest items of a window
  ///   the next run would find only old news, and stop: it must read everything.
  mutating func drop(_ mode: FeedMode?) async throws {
    let (write, id, leavesGap) = (write, id, mode == .window)
    try await store.write(author: "sync") { transaction in
      try write.finish(in: transaction)
      try SeenRecords.removeAll(feedID: id, in: transaction)
      guard leavesGap else { return }
      try transaction.update(Feed.self, ObjectID(entity: Feed.entityName, number: id)) {
        $0.fullAt = nil
      }
    }
    guard leavesGap else { return }
    hasGap = true
    feed.fullAt = nil
  }
}
