import EntityStore
import FeedDocuments
import Foundation
import HTTPClient

/// The answers, pages and endings of a run.
extension SyncMachine {
  // MARK: Answers

  mutating func receive(_ answer: PageAnswer) throws -> [Action] {
    let isDelta = asksForDelta
    switch answer {
    case .notModified(let response):
      // A 304 does not renew the validators: a server may answer 304 for ever.
      var result = feed
      result.apply(notModified: response, at: now)
      return finish(unchanged: result)
    case .sameBytes(let response):
      var result = feed
      result.apply(repeated: firstAnswer(response), renews: areValidatorsOld, at: now)
      if checkpoint.next == feed.requestURL, needsFullRun { result.fullAt = now }
      return finish(unchanged: result)
    case .empty(let response) where isDelta:
      checkpoint.report.mode = FeedMode.delta.rawValue
      var result = feed
      // With a mapping the checkpoint is a URL, and the header is not checked for one.
      if feed.isOwn, let start = response.header("Homefeed-Checkpoint") {
        result.checkpoint = start
      }
      result.apply(repeated: firstAnswer(response), renews: false, at: now)
      return finish(unchanged: result)
    case .empty:
      throw SyncError(
        .badDocument, "the server has no content where a page should be",
        [("url", shownURL(checkpoint.next)), ("status", "204")],
        advice: "report it to the feed's publisher")
    case .resync: return try restart()
    case .page(let page, _) where isDelta && missesChanges(page): return try restart()
    case .page(let page, let response): return try accept(page, response)
    }
  }

  /// Commits the pages before the one that failed: the next run resumes with that one.
  mutating func receive(_ error: any Error) -> [Action] {
    commit() + fail(rebound(error) ?? error)
  }

  /// Returns the error for a host whose name leads to a private address, after it had a public one;
  /// nil for any other error.
  private func rebound(_ error: any Error) -> SyncError? {
    guard feed.requiresPublicAddress, checkpoint.pages == 0, let error = error as? HTTPError,
      error.code == .refusedAddress, !error.isAfterRedirect
    else { return nil }
    return SyncError(
      .privateAddress, "the feed had a public address before and has a private one now",
      [("url", shownURL(checkpoint.next))],
      advice: "if that is intended, allow it with `mooring feed add URL --allow-private`; "
        + "otherwise report it to the feed's publisher")
  }

  /// Returns true if changes are missing between the stored items and the start of the delta.
  private func missesChanges(_ page: FeedPage) -> Bool {
    guard page.mode == .delta else { return false }
    if let epoch = feed.epoch, epoch != page.epoch { return true }
    if let since = page.since, let version = feed.version { return since > version }
    return false
  }

  /// Starts again with the whole listing.
  private mutating func restart() throws -> [Action] {
    guard checkpoint.next != feed.requestURL, !hasRestarted else {
      throw SyncError(
        .badDocument, "the server requests a full run in response to a full run",
        [("url", shownURL(checkpoint.next))], advice: "report it to the feed's publisher",
        endsListing: true)
    }
    hasRestarted = true
    hasGap = true
    let action = discard(FeedMode(rawValue: checkpoint.mode))
    let (requests, bytes) = (checkpoint.report.requests, checkpoint.report.bytes)
    checkpoint = SyncCheckpoint(feed: feed, startedAt: now)
    (checkpoint.report.requests, checkpoint.report.bytes) = (requests, bytes)
    conditions = nil
    uncommitted = Uncommitted()
    commits = 0
    return [action, .fetch(nextRequest())]
  }

  // MARK: Pages

  /// Checks a page and converts its items to rows.
  private mutating func accept(_ page: FeedPage, _ response: HTTPResponse) throws -> [Action] {
    var page = page
    if !page.isComplete {
      // The rest of the listing is unknown.
      checkpoint.isWhole = false
      checkpoint.isCut = true
      page.items.removeAll(where: \.isDeleted)
    }
    if checkpoint.pages == 0 { checkpoint.first = firstAnswer(to: page, response) }
    checkpoint.add(page, identity: feed.identity)
    try checkpoint.checkListing(page)
    let rejectedBefore = report.rejected
    let items = try mapper.map(page, &checkpoint.report)
    let rejected = report.rejected - rejectedBefore
    let total = items.count + rejected
    checkpoint.listed += total
    try checkpoint.checkRejections(page, rejected: rejected, of: total)
    if !options.allowsDeletions {
      try checkpoint.checkNotEmptied(page, before: feed.lastItems)
    }
    for entry in page.rejectedUsers {
      checkpoint.report.drop(entry.id, "user values left out: \(entry.reason)")
    }
    if rejected > 0 { checkpoint.isWhole = false }
    self.page = (page, response)
    return [.compare(items, users: page.users)]
  }

  private func firstAnswer(to page: FeedPage, _ response: HTTPResponse) -> FirstAnswer {
    FirstAnswer(
      response, checkpoint: asksForDelta ? feed.checkpoint : nil,
      timeToLive: page.timeToLive.map(Int64.init), isOwn: page.format == .homeFeed1, now: now)
  }

  /// Returns the record of an answer whose document is the same as the last one.
  private func firstAnswer(_ response: HTTPResponse) -> FirstAnswer {
    FirstAnswer(
      response, checkpoint: asksForDelta ? feed.checkpoint : nil, timeToLive: feed.timeToLive,
      isOwn: feed.isOwn, now: now)
  }

  /// Continues with the next page, or ends the run.
  ///
  /// - Parameter hasNews: True if the page had items that are new or changed.
  mutating func advance(hasNews: Bool) throws -> [Action] {
    guard let (page, response) = self.page else { return [] }
    self.page = nil
    uncommitted.budget.add(rows: page.items.count + page.users.count, bytes: response.body.count)
    checkpoint.pages += 1
    checkpoint.report.pages = checkpoint.pages
    let isOnly = checkpoint.pages == 1 && page.next == nil
    checkpoint.bodyHash = isOnly ? response.body.withUnsafeBytes { ContentHash.of($0) } : nil
    nextDelta = try startOfNextDelta(page, response)
    guard try setNextPage(page, response, hasNews: hasNews) else { return confirmOrFinish() }
    let request = nextRequest()
    if uncommitted.budget.hasRoom { return [.fetch(request)] }
    return [.prefetch(request)] + commit() + [.fetch(request)]
  }

  /// Returns the checkpoint of homefeed/1, or the URL that a mapping gives.
  private func startOfNextDelta(_ page: FeedPage, _ response: HTTPResponse) throws -> String? {
    switch page.nextRun {
    case nil: page.checkpoint
    case .url(let url): try PageAddress.resolve(url, from: response.effectiveURL)
    case .query(let name, let value): URLQuery.setting(name, to: value, in: feed.requestURL)
    }
  }

  /// Sets the URL of the next page. Returns false if no further page is needed.
  private mutating func setNextPage(
    _ page: FeedPage, _ response: HTTPResponse, hasNews: Bool
  ) throws -> Bool {
    guard let next = page.next else { return false }
    let isWindow = rules.mode == .window
    // After a page without news the older pages have none either. A full run reads them anyway.
    if isWindow, !hasNews, !options.isFull, !needsFullRun, !rules.isNewMapping {
      checkpoint.isNewestOnly = true
      return false
    }
    do {
      checkpoint.next = try PageAddress.resolve(next, from: response.effectiveURL)
      return true
    } catch let error as SyncError where isWindow && error.code == .foreignPage {
      // A window need not have its older items, and the newest ones are here.
      checkpoint.report.remark(
        shownURL(next).shortened(), "the next page is on another server, so it was not read")
      return false
    }
  }

  // MARK: End

  /// Finishes, after a check that all pages of a full listing show one state. Where no version
  /// proves it, a change that moves items to another page also changes the first one, so the first
  /// page is requested again.
  private mutating func confirmOrFinish() -> [Action] {
    guard rules.mode == .full, checkpoint.pages > 1, checkpoint.version == nil,
      checkpoint.isPinned, checkpoint.isWhole, let first = checkpoint.first
    else { return [.finish] }
    isConfirming = true
    return [
      .fetch(
        PageRequest(
          url: feed.requestURL, isFirst: true,
          conditions: HTTPConditions(
            url: first.url, etag: first.etag, lastModified: first.lastModified),
          bodyHash: nil, allowsPrivateAddresses: first.isFromPrivateAddress,
          document: DocumentSource(identity: checkpoint.identity ?? feed.identity)))
    ]
  }

  mutating func confirm(_ answer: PageAnswer) -> [Action] {
    switch answer {
    case .notModified: break
    case .page(let page, _) where page.listingHash == checkpoint.firstListing: break
    default: checkpoint.isPinned = false
    }
    return [.finish]
  }

  mutating func confirm(_ error: any Error) -> [Action] {
    if let error = error as? SyncError, error.refusal == nil {
      checkpoint.isPinned = false
      return [.finish]
    }
    // There is no page to resume with: the next run starts again, with what this one has stored.
    return commit() + [discard(.full), .fail(error)]
  }

  private mutating func finish(unchanged result: Feed) -> [Action] {
    var result = result
    result.forgetErrors()
    checkpoint.report.outcome = .notModified
    return result == feed && !feed.isRemoved ? [] : [.finishUnchanged(result)]
  }

  /// True if nothing may be concluded from an item's absence, because a page was missed.
  var isIncomplete: Bool { !isWhole && (rules.mode != .window || checkpoint.isCut) }

  /// True if the items that were not listed are to be deleted.
  var deletesAbsent: Bool { isWhole && rules.mode == .full }

  private var isWhole: Bool { checkpoint.isWhole && checkpoint.isPinned }

  /// Fails. A listing that cannot be continued is committed as far as it is read, and its
  /// checkpoint discarded: a resumed run would meet the same fault.
  mutating func fail(_ error: any Error) -> [Action] {
    guard let ending = error as? SyncError, ending.endsListing else { return [.fail(error)] }
    let actions = commit()
    return actions + [
      discard(commits > 0 ? FeedMode(rawValue: checkpoint.mode) : nil), .fail(error),
    ]
  }

  /// Commits the uncommitted pages. Pages that change nothing are not committed: after a kill they
  /// are read again.
  private mutating func commit() -> [Action] {
    guard uncommitted.hasChanges else { return [] }
    commits += 1
    uncommitted = Uncommitted()
    return [.commit]
  }

  /// Discards the saved checkpoint of a run.
  ///
  /// - Parameter mode: The mode of that run; nil if it has stored nothing. After the newest items
  ///   of a window the next run would find nothing new, and stop: it must read everything.
  mutating func discard(_ mode: FeedMode?) -> Action {
    if mode == .window {
      hasGap = true
      feed.fullAt = nil
    }
    return .discardCheckpoint(leavesGap: mode == .window)
  }
}
