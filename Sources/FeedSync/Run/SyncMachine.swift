import EntityStore
import FeedDocuments
import Foundation
import HTTPClient

/// The decisions of one run of one feed: a value that answers events with actions.
///
/// It does no I/O and reads no clock. ``SyncRun`` performs the actions in their order, and passes
/// the event that an action leads to back to ``handle(_:)``. The run ends when no action is left.
struct SyncMachine {
  enum Event {
    /// The store was searched for the checkpoint of an interrupted run.
    case started(SavedCheckpoint)
    case answered(PageAnswer)
    case fetchFailed(any Error)
    /// The page's items were compared with the store.
    ///
    /// - hasChanges: True if this page or one before it waits to be committed.
    case compared(SyncReport, newItems: Int, hasChanges: Bool)
    case committed(SyncReport)
    case finished(SyncReport)
  }

  enum SavedCheckpoint {
    case none
    /// Not a checkpoint of this program.
    case unreadable
    case saved(SyncCheckpoint, commits: Int64)
  }

  enum Action {
    /// Load the records that the interrupted run has seen.
    case loadSeenRecords
    /// Remove the saved checkpoint and forget the pages that are not committed.
    ///
    /// - leavesGap: True if older items may be missing, so the next run has to read everything.
    case discardCheckpoint(leavesGap: Bool)
    /// Fetch the page, or wait for it if it is being prefetched.
    case fetch(PageRequest)
    /// Start to fetch the page, concurrently with the actions that follow.
    case prefetch(PageRequest)
    /// Compare the items with the store.
    case compare([MappedItem], users: [UserEntry])
    /// Commit the changes and the checkpoint.
    case commit
    case reportProgress
    /// Commit the last changes, delete what a full listing lacks, and store the result.
    case finish
    /// Store what was learned about the feed from an answer without news.
    case finishUnchanged(Feed)
    case fail(any Error)
  }

  /// The feed as the run found it.
  private(set) var feed: Feed
  let options: SyncEngine.Options
  let now: Date
  private let mappings: FeedMappings
  private var mapper: ItemMapper

  private(set) var checkpoint: SyncCheckpoint
  /// The commits of this run and of the one that it resumes.
  private(set) var commits: Int64 = 0
  /// The start of the next delta, from the last page.
  private(set) var nextDelta: String?
  /// The conditions of the first request.
  private var conditions: HTTPConditions?
  /// The page that is being compared with the store.
  private var page: (page: FeedPage, response: HTTPResponse)?
  private var batch = Batch()
  private var hasRestarted = false
  /// True if an earlier run may have stored newer items without the older ones after them.
  private var hasGap = false
  /// True while the first page is requested again, to see whether the listing has changed.
  private var isConfirming = false

  /// The pages since the last commit.
  private struct Batch {
    var items = 0
    var bytes = 0
    var hasChanges = false

    var isFull: Bool { items >= Limits.itemsPerCommit || bytes >= Limits.pageBytesMax }
  }

  /// - Parameter mapper: Converts items to rows.
  init(
    feed: Feed, options: SyncEngine.Options, now: Date, mappings: FeedMappings, mapper: ItemMapper
  ) {
    self.feed = feed
    self.options = options
    self.now = now
    self.mappings = mappings
    self.mapper = mapper
    checkpoint = SyncCheckpoint(feed: feed, startedAt: now)
  }

  /// The counts of the run so far.
  var report: SyncReport { checkpoint.report }

  /// The rules for the comparison of the listing's items with the store.
  var rules: ListingRules {
    ListingRules(
      mode: FeedMode(rawValue: checkpoint.mode) ?? .window,
      isNewEpoch: feed.epoch != nil && checkpoint.epoch != nil && feed.epoch != checkpoint.epoch,
      isNewMapping: feed.mappingHash != checkpoint.mappingHash)
  }

  /// Returns the actions that follow the event, to be performed in this order.
  mutating func handle(_ event: Event) -> [Action] {
    do {
      switch event {
      case .started(let saved): return start(saved)
      case .answered(let answer):
        checkpoint.report.requests += answer.response.requests
        checkpoint.report.bytes += answer.response.wireBytes
        return isConfirming ? confirm(answer) : try receive(answer)
      case .fetchFailed(let error): return isConfirming ? confirm(error) : receive(error)
      case .compared(let report, let newItems, let hasChanges):
        checkpoint.report = report
        batch.hasChanges = hasChanges
        return try advance(hasNews: newItems > 0)
      case .committed(let report), .finished(let report):
        checkpoint.report = report
        return []
      }
    } catch {
      return fail(error)
    }
  }

  // MARK: Start

  /// Resumes an interrupted run, or chooses between a delta and the whole listing.
  private mutating func start(_ saved: SavedCheckpoint) -> [Action] {
    var actions: [Action] = []
    switch saved {
    case .none: break
    case .unreadable: actions.append(discard(.window))  // It may have been one.
    case .saved(let saved, let commits):
      if canResume(saved) {
        checkpoint = saved
        checkpoint.report.isResumed = true
        self.commits = commits
        return [.loadSeenRecords, .fetch(nextRequest())]
      }
      actions.append(discard(FeedMode(rawValue: saved.mode)))
    }
    if let start = feed.checkpoint, !options.isFull, !needsFullRun {
      // A mapping gives a whole URL.
      checkpoint.next =
        readsHomeFeed ? PageAddress.delta(of: feed.requestURL, since: start) : start
      checkpoint.beganWith = start
    }
    // A listing that repairs what deltas missed is of use only if it is complete.
    let repairs = feed.checkpoint != nil && needsFullRun
    if !options.isFull, !repairs, !hasNewMapping, !areValidatorsOld {
      conditions = feed.conditions(
        since: asksForDelta && readsHomeFeed ? feed.checkpoint : nil)
    }
    return actions + [.fetch(nextRequest())]
  }

  private func canResume(_ saved: SyncCheckpoint) -> Bool {
    let age = now.timeIntervalSince1970 - saved.startedAt
    return age >= 0 && age < Limits.resumeAgeMax && saved.settings == feed.settingsHash
      && !(options.isFull && saved.mode == FeedMode.delta.rawValue)
      && saved.mappingHash == mappings.hash(lastFormat: saved.format ?? feed.format)
  }

  private var readsHomeFeed: Bool { mappings.readsHomeFeed(lastFormat: feed.format) }

  private var asksForDelta: Bool { checkpoint.pages == 0 && checkpoint.next != feed.requestURL }

  private var areValidatorsOld: Bool {
    let age = feed.validatorsAt.map { now.timeIntervalSince($0) } ?? .infinity
    return age < 0 || age >= Limits.validatorsAgeMax
  }

  /// True if the stored items were read by another mapping: then all are fetched and compared.
  private var hasNewMapping: Bool { mappings.hash(lastFormat: feed.format) != feed.mappingHash }

  private var needsFullRun: Bool {
    guard let fullAt = feed.fullAt, !hasNewMapping, !hasGap else { return true }
    return abs(now.timeIntervalSince(fullAt)) > Limits.fullRunAgeMax
  }

  // MARK: Requests

  private func nextRequest() -> PageRequest {
    let isFirst = checkpoint.pages == 0
    var document = DocumentSource()
    document.isDelta = asksForDelta || checkpoint.mode == FeedMode.delta.rawValue
    document.identity = checkpoint.identity ?? feed.identity
    return PageRequest(
      url: checkpoint.next, isFirst: isFirst, conditions: isFirst ? conditions : nil,
      bodyHash: isFirst && !options.isFull && !hasNewMapping ? feed.bodyHash : nil,
      allowsPrivateAddresses: checkpoint.first?.isFromPrivateAddress
        ?? isOperatorURL(checkpoint.next),
      document: document)
  }

  /// Returns true if the operator has chosen the URL's host, or if the feed is on a private host,
  /// which is trusted like the operator.
  private func isOperatorURL(_ url: String) -> Bool {
    guard let chosen = WebURL.host(of: feed.url) else { return false }
    return Hosts.isPrivate(chosen) || WebURL.host(of: url) == chosen
  }

  // MARK: Answers

  private mutating func receive(_ answer: PageAnswer) throws -> [Action] {
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
        .badStatus, "the server has no content where a page should be",
        [("url", shownURL(checkpoint.next)), ("status", "204")],
        advice: "report it to the feed's publisher")
    case .resync: return try restart()
    case .page(let page, _) where isDelta && missesChanges(page): return try restart()
    case .page(let page, let response): return try accept(page, response)
    }
  }

  /// Commits the pages before the one that failed: the next run resumes with that one.
  private mutating func receive(_ error: any Error) -> [Action] {
    if let refusal = (error as? SyncError)?.refusal {
      checkpoint.report.requests += refusal.requests
      checkpoint.report.bytes += refusal.bytes
    }
    return commit() + fail(error)
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
        .badStatus, "the server asks for a full run in answer to a full run",
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
    batch = Batch()
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
      try checkpoint.checkNotEmptied(page, rejected: rejected, of: total, before: feed.lastItems)
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

  /// Goes on to the next page, or ends the run.
  ///
  /// - Parameter hasNews: True if the page had items that are new or changed.
  private mutating func advance(hasNews: Bool) throws -> [Action] {
    guard let (page, response) = self.page else { return [] }
    self.page = nil
    batch.items += page.items.count + page.users.count
    batch.bytes += response.body.count
    checkpoint.pages += 1
    checkpoint.report.pages = checkpoint.pages
    let isOnly = checkpoint.pages == 1 && page.next == nil
    checkpoint.bodyHash = isOnly ? response.body.withUnsafeBytes { ContentHash.of($0) } : nil
    nextDelta = try startOfNextDelta(page, response)
    guard try setNextPage(page, response, hasNews: hasNews) else { return confirmOrFinish() }
    let request = nextRequest()
    guard batch.isFull else { return [.fetch(request)] }
    return [.prefetch(request)] + commit() + [.reportProgress, .fetch(request)]
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
      checkpoint.report.faults += 1
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
    var document = DocumentSource()
    document.identity = checkpoint.identity ?? feed.identity
    return [
      .fetch(
        PageRequest(
          url: feed.requestURL, isFirst: true,
          conditions: HTTPConditions(
            url: first.url, etag: first.etag, lastModified: first.lastModified),
          bodyHash: nil, allowsPrivateAddresses: first.isFromPrivateAddress, document: document))
    ]
  }

  private mutating func confirm(_ answer: PageAnswer) -> [Action] {
    switch answer {
    case .notModified: break
    case .page(let page, _) where page.listingHash == checkpoint.firstListing: break
    default: checkpoint.isPinned = false
    }
    return [.finish]
  }

  private mutating func confirm(_ error: any Error) -> [Action] {
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
    return result == feed ? [] : [.finishUnchanged(result)]
  }

  /// True if nothing may be concluded from an item's absence, because a page was missed.
  var isIncomplete: Bool { !isWhole && (rules.mode != .window || checkpoint.isCut) }

  /// True if the items that were not listed are to be deleted.
  var deletesAbsent: Bool { isWhole && rules.mode == .full }

  private var isWhole: Bool { checkpoint.isWhole && checkpoint.isPinned }

  /// Fails. A listing that cannot be continued is committed as far as it is read, and its
  /// checkpoint discarded: a resumed run would meet the same fault.
  private mutating func fail(_ error: any Error) -> [Action] {
    guard let ending = error as? SyncError, ending.endsListing else { return [.fail(error)] }
    let actions = commit()
    return actions + [
      discard(commits > 0 ? FeedMode(rawValue: checkpoint.mode) : nil), .fail(error),
    ]
  }

  /// Commits the batch. Pages that change nothing are not committed: after a kill they are read
  /// again.
  private mutating func commit() -> [Action] {
    guard batch.hasChanges else { return [] }
    commits += 1
    batch = Batch()
    return [.commit]
  }

  /// Discards the saved checkpoint of a run.
  ///
  /// - Parameter mode: The mode of that run; nil if it has stored nothing. After the newest items
  ///   of a window the next run would find nothing new, and stop: it must read everything.
  private mutating func discard(_ mode: FeedMode?) -> Action {
    if mode == .window {
      hasGap = true
      feed.fullAt = nil
    }
    return .discardCheckpoint(leavesGap: mode == .window)
  }
}
