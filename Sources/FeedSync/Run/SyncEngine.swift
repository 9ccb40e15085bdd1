import EntityModel
public import EntityStore
public import Foundation

/// Runs syncs: fetches the pages of a feed, compares them with the store, writes what changed.
///
/// Network, parsing, conversion and hashing happen outside of write transactions. A page is in
/// with its frontier or not at all, so a kill at any moment loses at most the pages of one commit,
/// and the next run goes on at the page that had been reached. Validators and checkpoints are
/// stored in the last transaction, after all data they stand for.
///
/// Memory is bounded by the pages of one commit and, in a full run, one bit per record.
public struct SyncEngine: Sendable {
  private let store: Store
  private let transport: any HTTPTransport
  private let now: @Sendable () -> Date

  /// - Parameter store: Opened with `.feeds` among its migrations.
  public init(
    store: Store, transport: any HTTPTransport, now: @escaping @Sendable () -> Date = { Date() }
  ) {
    self.store = store
    self.transport = transport
    self.now = now
  }

  public struct Options: Sendable {
    /// Fetch the whole listing, unconditionally, though a delta would do.
    public var isFull = false
    /// Delete even if most of the feed's records would go.
    public var allowsDeletions = false
    /// Ask though the server has asked to wait.
    public var ignoresWait = false

    public init() {}
  }

  /// Syncs one feed.
  ///
  /// - Parameter progress: Called after each commit, with the report so far.
  /// - Throws: `SyncError`, `HTTPError`, `StoreError`. What was committed before stays.
  public func sync(
    _ id: Int64, options: Options = Options(),
    progress: (SyncReport) -> Void = { _ in }
  ) async throws -> SyncReport {
    let lease = try SyncLease(feedID: id, folder: store.folder)
    let identity = ObjectID(entity: Feed.entityName, number: id)
    guard let feed = try store.read({ try $0.get(Feed.self, identity) }), !feed.isRemoved else {
      throw SyncError(.unknownFeed, "no such feed", [("feed", String(id))])
    }
    try check(feed, options)
    do {
      var run = try SyncRun(
        feed: feed, id: id, store: store, transport: transport, options: options, now: now())
      let report = try await run.run(progress)
      _ = consume lease
      return report
    } catch {
      try await note(error, of: id)
      throw error
    }
  }

  private func check(_ feed: Feed, _ options: Options) throws {
    if feed.isPaused {
      throw SyncError(
        .paused, "the feed is paused", [("feed", feed.url)],
        advice: "resume it with `mooring feed resume`")
    }
    if let until = feed.waitUntil, until > now(), !options.ignoresWait {
      throw SyncError(
        .waiting, "the server has asked to wait",
        [("feed", feed.url), ("until", Value.date(until).text)],
        advice: "try again then, or use --now")
    }
  }

  /// Remembers a failure with the feed; how long to wait, if the server said so.
  private func note(_ error: any Error, of id: Int64) async throws {
    if error is StoreError || error is CancellationError { return }
    if let error = error as? HTTPError, error.code == .cancelled { return }
    let text = "\(error)"
    let now = now()
    var waitUntil: Date?
    var isGone = false
    if let error = error as? SyncError {
      isGone = error.code == .gone
      if error.code == .waiting, let seconds = error.context.first(where: { $0.0 == "seconds" }) {
        waitUntil = Int(seconds.1).map { now.addingTimeInterval(Double($0)) }
      }
    }
    try await Feeds(store).update(id) { [waitUntil, isGone] feed in
      feed.errors += 1
      feed.lastError = text
      if let waitUntil { feed.waitUntil = waitUntil }
      if isGone { feed.isPaused = true }
    }
  }
}
