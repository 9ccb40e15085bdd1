import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import HTTPClient

/// How a run ends that has met no error.
extension SyncRun {
  /// Whether the pages of a whole listing are of one state, as far as one can tell: where no version
  /// says so, what a change moves to another page moves the first one, which is asked for again.
  mutating func isFirstPageTheSame() async throws -> Bool {
    guard rules.mode == .full, frontier.pages > 1, frontier.version == nil, frontier.isPinned,
      frontier.isWhole, let first = frontier.first
    else { return true }
    var document = DocumentSource()
    document.identity = frontier.identity ?? feed.identity
    let request = PageRequest(
      url: feed.requestURL, isFirst: true,
      conditions: HTTPConditions(
        url: first.url, etag: first.etag, lastModified: first.lastModified),
      bodyHash: nil, allowsPrivateAddresses: first.isFromPrivateAddress, document: document)
    do {
      let fetched = try await source.fetch(request)
      frontier.report.requests += fetched.requests
      frontier.report.bytes += fetched.bytes
      switch fetched.answer {
      case .notModified: return true
      case .page(let page, _): return page.listingHash == frontier.firstListing
      case .sameBytes, .nothing, .resync: return false
      }
    } catch let error as SyncError where error.refusal == nil {
      return false
    } catch {
      // There is no page to go on with: the next run begins anew, with what this one has stored.
      try await commit()
      try await drop(.full)
      throw error
    }
  }

  /// The last transaction: the last pages, deletions, and only then validators and checkpoint.
  mutating func finish() async throws -> SyncReport {
    let (feed, id, write, targets, rules) = (feed, id, write, targets, rules)
    let (changes, options, now, checkpoint) = (changes, options, now, checkpoint)
    let (frontier, seen, clock) = (frontier, seen, clock)
    self.frontier.report = try await store.write(author: "sync") { transaction in
      var (report, seen) = (frontier.report, seen)
      let writer = try PageWriter(feedID: id, rules: rules, targets: targets, in: transaction)
      try writer.write(changes, seen: &seen, &report)
      let isWhole = frontier.isWhole && frontier.isPinned
      if !isWhole, rules.mode != .window || frontier.isCut { report.outcome = .incomplete }
      if isWhole, rules.mode == .full {
        try Sweep(feedID: id, targets: targets, allowsAll: options.allowsDeletions)
          .run(seen, &report, in: transaction)
      }
      if rules.mode == .full { try SeenRecords.removeAll(feedID: id, in: transaction) }
      try write.finish(in: transaction)
      let ended = feed.after(frontier, report, checkpoint: checkpoint, at: now)
      try transaction.update(Feed.self, ObjectID(entity: Feed.entityName, number: id)) {
        $0.take(ended)
      }
      try FeedRun.add(
        FeedRun(feedID: id, startedAt: now, endedAt: clock(), report), in: transaction)
      return report
    }
    return self.frontier.report
  }

  /// The validators are not renewed by a 304, so that a server stuck on it is asked in earnest one
  /// day.
  func finishNotModified(_ response: HTTPResponse) async throws -> SyncReport {
    var ended = feed
    ended.take(notModified: response, at: now)
    return try await finish(unchanged: ended)
  }

  func finishSameBytes(_ response: HTTPResponse) async throws -> SyncReport {
    var ended = feed
    ended.take(again: firstAnswer(response), renews: areValidatorsOld, at: now)
    if frontier.next == feed.requestURL, needsFullRun { ended.fullAt = now }
    return try await finish(unchanged: ended)
  }

  mutating func finishEmptyDelta(_ response: HTTPResponse) async throws -> SyncReport {
    frontier.report.mode = FeedMode.delta.rawValue
    var ended = feed
    // Of a feed that a mapping reads the checkpoint is a URL, which a header is not checked for.
    if feed.isOwn, let checkpoint = response.header("Homefeed-Checkpoint") {
      ended.checkpoint = checkpoint
    }
    ended.take(again: firstAnswer(response), renews: false, at: now)
    return try await finish(unchanged: ended)
  }

  /// Of an answer whose document says what the last one said.
  private func firstAnswer(_ response: HTTPResponse) -> FirstAnswer {
    FirstAnswer(
      response, checkpoint: asksForDelta ? feed.checkpoint : nil, timeToLive: feed.timeToLive,
      isOwn: feed.isOwn, now: now)
  }

  /// Ends a run that had nothing to store but what the server said of its answer; if that is
  /// nothing new either, nothing is written.
  private func finish(unchanged ended: Feed) async throws -> SyncReport {
    var ended = ended
    ended.forgetErrors()
    var report = frontier.report
    report.outcome = .notModified
    guard ended != feed else { return report }
    let run = try FeedRun(feedID: id, startedAt: now, endedAt: clock(), report)
    try await store.write(author: "feed") { [id, ended, run] transaction in
      try transaction.update(Feed.self, ObjectID(entity: Feed.entityName, number: id)) {
        $0.take(ended)
      }
      try FeedRun.add(run, in: transaction)
    }
    return report
  }
}
