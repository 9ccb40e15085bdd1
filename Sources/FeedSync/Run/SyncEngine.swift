import EntityModel
public import EntityStore
public import Foundation
public import HTTPClient

/// Runs syncs: fetches the pages of a feed, compares them with the store, writes what changed.
///
/// Network, parsing, conversion and hashing happen outside of write transactions. A page is in
/// with its frontier or not at all, so a kill at any moment loses at most the pages of one commit,
/// and the next run goes on at the page that had been reached. Validators and checkpoints are
/// stored in the last transaction, after all data they stand for.
///
/// A feed is not asked before the time that its server, its host or its last answer has named, and the
/// starts of runs at one public host are kept apart.
///
/// Memory is bounded by the pages of one commit and, in a full run, one bit per record.
public struct SyncEngine: Sendable {
  let store: Store
  private let transport: any HTTPTransport
  let hostSpacing: @Sendable () -> Duration
  let clock: @Sendable () -> Date
  let sleep: @Sendable (Duration) async throws -> Void
  let pace = HostPace()

  /// - Parameter store: Opened with `.feeds` among its migrations.
  /// - Parameter hostSpacing: The time between the starts of two runs at one host.
  public init(
    store: Store, transport: any HTTPTransport,
    hostSpacing: @escaping @Sendable () -> Duration = { .seconds(2) },
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.init(store: store, transport: transport, hostSpacing: hostSpacing, now: now) {
      try await Task.sleep(for: $0)
    }
  }

  init(
    store: Store, transport: any HTTPTransport,
    hostSpacing: @escaping @Sendable () -> Duration = { .seconds(2) },
    now: @escaping @Sendable () -> Date,
    sleep: @escaping @Sendable (Duration) async throws -> Void
  ) {
    self.store = store
    self.transport = transport
    self.hostSpacing = hostSpacing
    clock = now
    self.sleep = sleep
  }

  public struct Options: Sendable {
    /// Fetch the whole listing, unconditionally, though a delta would do or the last answer is good
    /// for longer.
    public var isFull = false
    /// Delete even if most of the feed's records would go.
    public var allowsDeletions = false
    /// Ask though the server has asked to wait, or the last answer is good for longer.
    public var ignoresWait = false

    public init() {}
  }

  /// Syncs one feed.
  ///
  /// - Parameter progress: Called after each commit, with the report so far.
  /// - Returns: What the run did; `fresh`, without a request, when the last answer is still good.
  /// - Throws: `SyncError`, `HTTPError`, `StoreError`. What was committed before stays.
  public func sync(
    _ id: Int64, options: Options = Options(),
    progress: (SyncReport) -> Void = { _ in }
  ) async throws -> SyncReport {
    let lease = try SyncLease(feedID: id, folder: store.folder)
    var feed = try feed(id)
    if try isFresh(feed, lastRun: lease.previous, options) { return freshReport(feed) }
    let start = try await waitForTurn(id, feed)
    // Meanwhile the host may have asked to wait, or the operator may have changed his mind.
    feed = try self.feed(id)
    if try isFresh(feed, lastRun: lease.previous, options) { return freshReport(feed) }
    lease.begin(at: start)
    var report = SyncReport(feed: feed.url)
    do {
      var run = try SyncRun(
        feed: feed, id: id, store: store, transport: transport, options: options, now: start,
        clock: clock)
      defer { report = run.report }
      let report = try await run.run(progress)
      lease.end(begunAt: start)
      if options.ignoresWait { try await openHost(of: feed) }
      return report
    } catch {
      try await note(error, of: id, report, begunAt: start)
      throw error
    }
  }

  /// - Throws: `unknownFeed`.
  private func feed(_ id: Int64) throws -> Feed {
    let identity = ObjectID(entity: Feed.entityName, number: id)
    guard let feed = try store.read({ try $0.get(Feed.self, identity) }), !feed.isRemoved else {
      throw SyncError(.unknownFeed, "no such feed", [("feed", String(id))])
    }
    return feed
  }

  private func freshReport(_ feed: Feed) -> SyncReport {
    var report = SyncReport(feed: feed.url)
    report.outcome = .fresh
    return report
  }

  /// - Throws: `paused`, or `waiting` when the server or the host has asked to wait.
  private func isFresh(_ feed: Feed, lastRun: LastRun?, _ options: Options) throws -> Bool {
    if feed.isPaused, let goneAt = feed.goneAt {
      throw SyncError(
        .paused, "the server has said that the feed is gone for good",
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
        ? "the server has asked to wait" : "the host has asked to wait with all its feeds",
      [("feed", shownURL(feed.url)), ("until", Value.date(promise.at).text)],
      advice: "try again then, or use --now")
  }

  /// Who was told not to wait has found the host open.
  private func openHost(of feed: Feed) async throws {
    guard try store.read({ try Hosts.wait(for: feed.host, in: $0) }) != nil else { return }
    try await store.write(author: "feed") { try Hosts.forget(feed.host, in: $0) }
  }

  /// Remembers a failure with the feed; how long to wait, if the server said so, and with whom.
  private func note(
    _ error: any Error, of id: Int64, _ report: SyncReport, begunAt start: Date
  ) async throws {
    if error is CancellationError { return }
    if let error = error as? StoreError, !error.isOfFeed { return }
    if let error = error as? HTTPError, error.code == .cancelled { return }
    let (now, text) = (clock(), "\(error)")
    let failure = error as? SyncError
    let refusal = failure?.refusal
    let wait = failure?.code == .waiting ? refusal?.wait : nil
    let isGone = failure?.code == .gone
    let identity = ObjectID(entity: Feed.entityName, number: id)
    try await store.write(author: "feed") { transaction in
      guard try transaction.get(identity) != nil else { return }
      try transaction.update(Feed.self, identity) { feed in
        feed.errors += 1
        feed.lastError = text
        feed.lastStatus = (refusal?.status).map(Int64.init)
        if let wait { feed.waitUntil = now.addingTimeInterval(wait) }
        let isForgotten = feed.doubtLearnedURL(failure)
        if isGone, !isForgotten {
          feed.isPaused = true
          feed.goneAt = now
        }
      }
      if let wait, refusal?.status == 429, let host = refusal?.host, !Hosts.isPrivate(host) {
        let until = now.addingTimeInterval(wait)
        try Hosts.note(host, waitUntil: until, now: now, in: transaction)
      }
      try FeedRun.add(
        FeedRun(feedID: id, startedAt: start, endedAt: now, report, error: text),
        in: transaction)
    }
  }
}

extension SyncError.Refusal {
  /// Seconds. Too many requests are a reason to wait also when the server does not say for how long,
  /// or says that it need not be at all.
  fileprivate var wait: Double? {
    guard status == 429 else { return retryAfter }
    return max(retryAfter ?? Limits.hostWait, Limits.failureWaitMin)
  }
}

extension StoreError {
  /// Whether it is what the feed has sent that the store does not take, or its records that it cannot
  /// read: what would come again each time, unseen, if it were not noted. Of the others a store that
  /// fails could take no note.
  fileprivate var isOfFeed: Bool {
    switch code {
    case .validation, .uniqueViolation, .deletionDenied, .damaged, .missingRecord,
      .unknownEntity, .unknownAttribute, .unknownRelationship:
      true
    default: false
    }
  }
}
