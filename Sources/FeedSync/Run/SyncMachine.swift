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
    case finished(SyncReport)
  }

  enum SavedCheckpoint {
    case none
    /// Not a checkpoint of this program.
    case unreadable
    case saved(SyncCheckpoint, commits: Int64)
  }

  enum Action {
    /// Store that the feed's host has a public address: at once, so that a run that fails or is
    /// killed later does not forget it.
    case recordPublicAddress
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
    /// Commit the changes and the checkpoint, concurrently with the actions that follow.
    case commit
    /// Commit the last changes, delete what a full listing lacks, and store the result.
    case finish
    /// Store what was learned about the feed from an answer without news.
    case finishUnchanged(Feed)
    case fail(any Error)
  }

  /// The feed as the run found it, and whether its host has had a public address.
  var feed: Feed
  let options: SyncEngine.Options
  let now: Date
  let mappings: FeedMappings
  var mapper: ItemMapper

  var checkpoint: SyncCheckpoint
  /// The commits of this run and of the one that it resumes.
  var commits: Int64 = 0
  /// The start of the next delta, from the last page.
  var nextDelta: String?
  /// The conditions of the first request.
  var conditions: HTTPConditions?
  /// The page that is being compared with the store.
  var page: (page: FeedPage, response: HTTPResponse)?
  var uncommitted = Uncommitted()
  var hasRestarted = false
  /// True if an earlier run may have stored newer items without the older ones after them.
  var hasGap = false
  /// True while the first page is requested again, to see whether the listing has changed.
  var isConfirming = false

  /// The pages since the last commit.
  struct Uncommitted {
    var budget = ChunkBudget(rowsMax: SyncLimits.itemsPerCommit, bytesMax: SyncLimits.pageBytesMax)
    var hasChanges = false
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
    guard !feed.hasPublicAddress, showsPublicAddress(event) else { return decide(event) }
    feed.hasPublicAddress = true
    return [.recordPublicAddress] + decide(event)
  }

  private func showsPublicAddress(_ event: Event) -> Bool {
    switch event {
    case .answered(let answer): feed.isPublic(answer.response, to: requestedURL)
    case .fetchFailed(let error): (error as? SyncError)?.isHostPublic == true
    default: false
    }
  }

  private mutating func decide(_ event: Event) -> [Action] {
    do {
      switch event {
      case .started(let saved): return start(saved)
      case .answered(let answer):
        checkpoint.report.requests += answer.response.requests
        checkpoint.report.bytes += answer.response.wireBytes
        return isConfirming ? confirm(answer) : try receive(answer)
      case .fetchFailed(let error):
        count(error)
        return isConfirming ? confirm(error) : receive(error)
      case .compared(let report, let newItems, let hasChanges):
        checkpoint.report = report
        uncommitted.hasChanges = hasChanges
        return try advance(hasNews: newItems > 0)
      case .finished(let report):
        checkpoint.report = report
        return []
      }
    } catch {
      return fail(error)
    }
  }

  /// Counts the requests of a page that has failed.
  private mutating func count(_ error: any Error) {
    switch error {
    case let error as SyncError:
      checkpoint.report.requests += error.requests
      checkpoint.report.bytes += error.bytes
    case let error as HTTPError:
      checkpoint.report.requests += error.requests
      checkpoint.report.bytes += error.wireBytes
    default: break
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
    return age >= 0 && age < SyncLimits.resumeAgeMax && saved.settings == feed.settingsHash
      && !(options.isFull && saved.mode == FeedMode.delta.rawValue)
      && saved.mappingHash == mappings.hash(lastFormat: saved.format ?? feed.format)
  }

  private var readsHomeFeed: Bool { mappings.readsHomeFeed(lastFormat: feed.format) }

  var asksForDelta: Bool { checkpoint.pages == 0 && checkpoint.next != feed.requestURL }

  var areValidatorsOld: Bool {
    let age = feed.validatorsAt.map { now.timeIntervalSince($0) } ?? .infinity
    return age < 0 || age >= SyncLimits.validatorsAgeMax
  }

  /// True if the stored items were read by another mapping: then all are fetched and compared.
  private var hasNewMapping: Bool { mappings.hash(lastFormat: feed.format) != feed.mappingHash }

  var needsFullRun: Bool {
    guard let fullAt = feed.fullAt, !hasNewMapping, !hasGap else { return true }
    return abs(now.timeIntervalSince(fullAt)) > SyncLimits.fullRunAgeMax
  }

  // MARK: Requests

  func nextRequest() -> PageRequest {
    let isFirst = checkpoint.pages == 0
    let document = DocumentSource(
      isDelta: asksForDelta || checkpoint.mode == FeedMode.delta.rawValue,
      identity: checkpoint.identity ?? feed.identity)
    return PageRequest(
      url: checkpoint.next, isFirst: isFirst, conditions: isFirst ? conditions : nil,
      bodyHash: isFirst && !options.isFull && !hasNewMapping ? feed.bodyHash : nil,
      allowsPrivateAddresses: checkpoint.first?.isFromPrivateAddress
        ?? isOperatorURL(checkpoint.next),
      document: document)
  }

  /// The URL of the last request.
  private var requestedURL: String { isConfirming ? feed.requestURL : checkpoint.next }

  /// Returns true if the operator has chosen the URL's host, or if the feed is on a private host,
  /// which is trusted like the operator.
  private func isOperatorURL(_ url: String) -> Bool {
    guard !feed.requiresPublicAddress, let chosen = WebURL.host(of: feed.url) else { return false }
    return Hosts.isPrivate(chosen) || WebURL.host(of: url) == chosen
  }
}
