import EntityModel
public import EntityStore
public import Foundation
public import HTTPClient

/// Syncs feeds: fetches the pages of a feed, compares them with the store, and writes the changes.
///
/// Network, parsing, conversion and hashing happen outside of write transactions. Pages are
/// committed together with the position of the run, so a kill at any time loses at most the pages
/// of one commit, and the next run resumes there. Validators and the feed's checkpoint are stored
/// in the last transaction, after all items that they cover.
///
/// A feed is not requested before the time that its server, its host or its last answer has named.
/// The starts of runs at one public host are spaced.
///
/// Memory is bounded by the pages of one commit and, in a full run, one bit per record.
public struct SyncEngine: Sendable {
  let store: Store
  private let transport: any HTTPTransport
  let hostSpacing: @Sendable () -> Duration
  let clock: @Sendable () -> Date
  private let onRun: RunObserver
  /// Waits for a turn at a host; tests replace it.
  var sleep: @Sendable (Duration) async throws -> Void = { try await Task.sleep(for: $0) }
  let pace = HostPace()
  private let hostFeeds = HostFeeds()

  /// Called with the feed, the counts, the start and the duration in seconds of a run.
  public typealias RunObserver = @Sendable (Int64, SyncReport, Date, Double) -> Void

  /// - Parameters:
  ///   - store: A store that was opened with `.feeds` among its migrations.
  ///   - hostSpacing: Returns the time between the starts of two runs at one host.
  ///   - now: Returns the time; `nil` for the clock of the store, which its machines share.
  ///   - onRun: Called after each run, also one that has failed or needed no request, but not one
  ///     that was cancelled or that failed because of the store.
  public init(
    store: Store, transport: any HTTPTransport,
    hostSpacing: @escaping @Sendable () -> Duration = { .seconds(2) },
    now: (@Sendable () -> Date)? = nil,
    onRun: @escaping RunObserver = { _, _, _, _ in }
  ) {
    self.store = store
    self.transport = transport
    self.hostSpacing = hostSpacing
    clock = now ?? { store.now() }
    self.onRun = onRun
  }

  /// The options of a run.
  public struct Options: Sendable {
    /// True to fetch the whole listing, even if a delta is possible or the last answer is still
    /// fresh.
    public var isFull = false
    /// True to delete absent items even if these are most of the feed's records.
    public var allowsDeletions = false
    /// True to send a request even if the server has asked to wait or the last answer is still
    /// fresh.
    public var ignoresWait = false
    /// The ``Feed/addedAt`` of a URL that is not a feed, from ``Feeds/candidate(_:)``. It becomes a
    /// feed with the run's first commit, unless it was added since, even if it was removed again.
    public var candidateAddedAt: Date?

    public init() {}
  }

  /// Syncs one feed.
  ///
  /// - Parameters:
  ///   - progress: Called after each commit, with the counts so far.
  ///   - failed: Called with the counts of a run that fails, before the error is thrown.
  /// - Returns: The counts of the run. The outcome is `fresh`, without a request, if the last
  ///   answer is still fresh.
  /// - Throws: `SyncError`, `HTTPError`, `StoreError`. Pages that were committed stay, and the next
  ///   run resumes there. A run resumes by itself if another process changes the schema; `conflict`
  ///   if that happens again and again.
  public func sync(
    _ id: Int64, options: Options = Options(),
    progress: (SyncReport) -> Void = { _ in }, failed: (SyncReport) -> Void = { _ in }
  ) async throws -> SyncReport {
    let lease = try SyncLease(feedID: id, in: store)
    var feed = try feed(id, options)
    if try isFresh(feed, lastRun: lease.previous, options) { return freshReport(id, feed) }
    let start = try await waitForTurn(id, feed)
    // During the wait the host may have asked to wait longer, or the settings may have changed,
    // maybe on another machine.
    try store.catchUp()
    feed = try self.feed(id, options)
    if try isFresh(feed, lastRun: lease.previous, options) { return freshReport(id, feed) }
    if FeedTiming.wasSetBack(since: lease.previous, now: start) {
      try await clearWaits(of: id, &feed, after: start + SyncLimits.clockErrorMax)
    }
    lease.begin(at: start)
    var report = SyncReport(feed: feed.url)
    do {
      var restarts = 0
      while true {
        var run = try SyncRun(
          feed: feed, id: id, store: store, transport: transport, options: options, now: start,
          clock: clock)
        defer { report = run.report }
        do {
          let report = try await run.run(progress)
          let (start, now) = endedRun(begunAt: start)
          lease.end(begunAt: start)
          onRun(id, report, start, now.timeIntervalSince(start))
          if options.ignoresWait { try await clearHostWait(of: feed) }
          return report
        } catch let error as StoreError
          where error.code == .conflict && restarts < SyncLimits.restartsMax
        {
          restarts += 1
          feed = try self.feed(id, options)
        }
      }
    } catch {
      report = report.failed(error)
      failed(report)
      let run = endedRun(begunAt: start)
      if run.start < start { lease.begin(at: run.start) }
      try await record(error, of: id, report, run)
      throw error
    }
  }

  /// Returns the start and the end of a run that ends now.
  ///
  /// If the clock was set back during the run, its end counts as its start. With a start in the
  /// future, the feed would be due at once: how long its answer is fresh would be unknown.
  private func endedRun(begunAt start: Date) -> (start: Date, end: Date) {
    let now = clock()
    return (min(start, now), now)
  }

  /// Waits until a run at the feed's host may start. Private hosts need no wait.
  ///
  /// - Returns: The time of the start.
  private func waitForTurn(_ id: Int64, _ feed: Feed) async throws -> Date {
    let (host, spacing, now) = (feed.host, hostSpacing(), clock())
    guard spacing > .zero, !Hosts.isPrivate(host) else { return now }
    let others = try hostFeeds.feeds(of: host, in: store, now: now).compactMap { other in
      other != id ? SyncLease.lastRun(feedID: other, in: store)?.at : nil
    }
    let start = pace.reserve(host, spacing: spacing, others: others, now: now)
    let shared = try translatingStorageErrors {
      try store.options.sharedLocks.reserveTurn("host:\(host)", spacing: spacing)
    }
    let wait = max(start.timeIntervalSince(now), shared.inSeconds)
    guard wait > 0 else { return now }
    try await sleep(.seconds(wait))
    return clock()
  }

  /// - Throws: `unknownFeed`.
  private func feed(_ id: Int64, _ options: Options) throws -> Feed {
    let identity = Feed.objectID(id)
    guard var feed = try store.read({ try $0.get(Feed.self, identity) }),
      !feed.isRemoved || feed.addedAt == options.candidateAddedAt
    else { throw SyncError(.unknownFeed, "no such feed", [("feed", String(id))]) }
    // The stored record stays removed until the first commit.
    if feed.isRemoved {
      feed.forgetValidators()
      feed.reopen()
    }
    return feed
  }

  private func freshReport(_ id: Int64, _ feed: Feed) -> SyncReport {
    var report = SyncReport(feed: feed.url)
    report.outcome = .fresh
    onRun(id, report, clock(), 0)
    return report
  }

  /// Returns true if the last answer is still fresh.
  ///
  /// - Throws: `paused`, or `waiting` if the server or the host has asked to wait.
  private func isFresh(_ feed: Feed, lastRun: LastRun?, _ options: Options) throws -> Bool {
    if feed.isPaused, let goneAt = feed.goneAt {
      throw SyncError(
        .paused, "the server has reported that the feed is gone for good",
        [("feed", shownURL(feed.url)), ("at", Value.date(goneAt).text)],
        advice: "ask again after `mooring feed resume`, or `mooring feed remove` it")
    }
    if feed.isPaused {
      throw SyncError(
        .paused, "the feed is paused", [("feed", shownURL(feed.url))],
        advice: "resume it with `mooring feed resume`")
    }
    if options.ignoresWait { return false }
    let hostWait = try store.read { try Hosts.wait(for: feed.host, in: $0) }
    let circumstances = FeedTiming.Circumstances(
      lastRun: lastRun, hostWait: hostWait, now: clock())
    guard let promise = FeedTiming.promise(feed, circumstances) else { return false }
    if promise.reason == .fresh { return !options.isFull }
    throw SyncError(
      .waiting,
      promise.reason == .waiting
        ? "the server has requested a wait" : "the host has requested a wait for all its feeds",
      [("feed", shownURL(feed.url)), ("until", Value.date(promise.at).text)],
      advice: "try again then, or use --now")
  }

  /// Clears the waits of the feed and its host, whose ends were computed before the clock was set
  /// back. The run does not observe them, and later runs could not know that they are wrong.
  private func clearWaits(of id: Int64, _ feed: inout Feed, after latest: Date) async throws {
    if let wait = try store.read({ try Hosts.wait(for: feed.host, in: $0) }), wait > latest {
      try await clearHostWait(of: feed)
    }
    guard let wait = feed.waitUntil, wait > latest else { return }
    feed.waitUntil = nil
    try await store.write(author: "feed") { transaction in
      try transaction.update(Feed.self, Feed.objectID(id)) { $0.waitUntil = nil }
    }
  }

  /// Clears the host's wait, if it has one.
  private func clearHostWait(of feed: Feed) async throws {
    guard try store.read({ try Hosts.wait(for: feed.host, in: $0) }) != nil else { return }
    try await store.write(author: "feed") { try Hosts.forget(feed.host, in: $0) }
  }

  /// Stores a failure with the feed, and the wait that the server or its host has requested.
  private func record(
    _ error: any Error, of id: Int64, _ report: SyncReport, _ run: (start: Date, end: Date)
  ) async throws {
    if error is CancellationError { return }
    if let error = error as? StoreError, !error.isOfFeed { return }
    if let error = error as? HTTPError, error.code == .cancelled { return }
    let now = run.end
    onRun(id, report, run.start, now.timeIntervalSince(run.start))
    let failure = error as? SyncError
    let refusal = failure?.refusal
    let wait = failure?.code == .waiting ? refusal?.wait : nil
    let isGone = failure?.code == .gone
    let identity = Feed.objectID(id)
    try await store.write(author: "feed") { transaction in
      guard try transaction.get(identity) != nil else { return }
      try transaction.update(Feed.self, identity) { feed in
        feed.errors += 1
        feed.lastError = report.error
        feed.lastStatus = (refusal?.status).map(Int64.init)
        if let wait { feed.waitUntil = now.addingTimeInterval(wait) }
        let isDropped = feed.dropFailingRedirect(failure)
        if isGone, !isDropped {
          feed.isPaused = true
          feed.goneAt = now
        }
      }
      if let wait, refusal?.status == 429, let host = refusal?.host, !Hosts.isPrivate(host) {
        let until = now.addingTimeInterval(wait)
        try Hosts.record(host, waitUntil: until, now: now, in: transaction)
      }
      try FeedRun.add(
        FeedRun(feedID: id, startedAt: run.start, endedAt: now, report), in: transaction)
    }
  }
}

extension SyncError.Refusal {
  /// The seconds to wait. A 429 needs a wait even if the server names none, or 0.
  fileprivate var wait: Double? {
    guard status == 429 else { return retryAfter }
    return max(retryAfter ?? SyncLimits.hostWait, SyncLimits.failureWaitMin)
  }
}

extension StoreError {
  /// True if the store refused the feed's items or could not read its records. Such an error recurs
  /// in each run, so it is stored with the feed. Other errors of a store cannot be stored in it.
  fileprivate var isOfFeed: Bool {
    switch code {
    case .damaged: !isStorageFailure
    case .validation, .uniqueViolation, .deletionDenied, .missingRecord,
      .unknownEntity, .unknownAttribute, .unknownRelationship:
      true
    default: false
    }
  }
}
