import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import HTTPClient

/// One run of one feed, from its first request to its last transaction.
struct SyncRun {
  var feed: Feed
  let id: Int64
  let store: Store
  let source: PageSource
  let options: SyncEngine.Options
  let now: Date
  let clock: @Sendable () -> Date
  let targets: [String: FeedTarget]
  let write: ChunkedWrite<RunFrontier>
  /// The hash of the mapping that the documents will be read by, unless their format has changed.
  let expectedMapping: Int64?

  var frontier: RunFrontier
  var seen = SeenRecords()
  var changes = PageChanges()
  var mapper: ItemMapper
  /// What the first request is conditional on.
  var conditions: HTTPConditions?
  /// Whether the page that was read last had items that are new or changed.
  var hadNews = false
  /// Items mapped since the last commit, and the bytes of their pages.
  var gathered = 0
  var gatheredBytes = 0
  /// Commits of this run and of the one that it resumes.
  var commits: Int64 = 0
  /// Of the page that was read last.
  var checkpoint: String?
  var hasRestarted = false
  /// An earlier run may have stored newer items without the older ones behind them.
  var hasGap = false
  /// The next page, under way while the last ones are committed.
  var ahead: Task<PageSource.Fetched, any Error>?

  init(
    feed: Feed, id: Int64, store: Store, transport: any HTTPTransport,
    options: SyncEngine.Options, now: Date,
    clock: @escaping @Sendable () -> Date
  ) throws {
    self.feed = feed
    self.id = id
    self.store = store
    self.options = options
    self.now = now
    self.clock = clock
    let (targets, schema) = try store.read { (try FeedTarget.all(in: $0), $0.schema) }
    self.targets = targets
    guard targets[feed.entity] != nil else {
      throw SyncError(
        .missingTarget, "the entity of the feed's items is not there or cannot take a feed",
        [("entity", feed.entity)],
        advice: "choose another one (`mooring feed add URL --into ENTITY`)")
    }
    let mappings = try FeedMappings(feed.mappingText, schema: schema, entity: feed.entity)
    expectedMapping = mappings.hash(lastFormat: feed.format)
    source = PageSource(
      transport: transport, feed: feed, token: try BearerToken.read(for: feed),
      mappings: mappings)
    mapper = ItemMapper(
      targets: targets, defaultEntity: feed.entity, feedID: id, now: now)
    write = ChunkedWrite(name: "sync \(id)", author: "sync")
    frontier = RunFrontier(
      mode: "", startedAt: now.timeIntervalSince1970, next: feed.requestURL,
      settings: feed.settingsHash, report: SyncReport(feed: feed.url))
  }

  /// What was done so far.
  var report: SyncReport { frontier.report }

  mutating func run(_ progress: (SyncReport) -> Void) async throws -> SyncReport {
    try await begin()
    defer { ahead?.cancel() }
    do {
      return try await readPages(progress)
    } catch let error as SyncError where error.endsListing {
      // To go on where this listing has come to would only meet the same fault.
      try await commit()
      try await drop(commits > 0 ? FeedMode(rawValue: frontier.mode) : nil)
      throw error
    }
  }

  private mutating func readPages(_ progress: (SyncReport) -> Void) async throws -> SyncReport {
    while true {
      let isFirst = frontier.pages == 0
      switch try await fetch() {
      case .notModified(let response):
        return try await finishNotModified(response)
      case .sameBytes(let response):
        return try await finishSameBytes(response)
      case .nothing(let response) where isFirst && asksForDelta:
        return try await finishEmptyDelta(response)
      case .nothing:
        throw SyncError(
          .badStatus, "the server has no content where a page should be",
          [("url", shownURL(frontier.next)), ("status", "204")], advice: "tell the feed's publisher"
        )
      case .resync:
        try await restartInFull()
      case .page(let page, _) where isFirst && asksForDelta && isGap(page):
        try await restartInFull()
      case .page(let page, let response):
        try accept(page, response)
        if try await goOn(after: page, response, progress) { continue }
        if try await !isFirstPageTheSame() { frontier.isPinned = false }
        return try await finish()
      }
    }
  }

  private mutating func fetch() async throws -> PageAnswer {
    let task = ahead ?? fetchAhead()
    ahead = nil
    do {
      let fetched = try await withTaskCancellationHandler {
        try await task.value
      } onCancel: {
        task.cancel()
      }
      frontier.report.requests += fetched.requests
      frontier.report.bytes += fetched.bytes
      return fetched.answer
    } catch {
      if let refusal = (error as? SyncError)?.refusal {
        frontier.report.requests += refusal.requests
        frontier.report.bytes += refusal.bytes
      }
      // What came before is whole: the next run begins with the page that failed.
      try await commit()
      throw error
    }
  }

  /// Begins to fetch and to read the next page, so that it comes while this one is committed.
  func fetchAhead() -> Task<PageSource.Fetched, any Error> {
    let isFirst = frontier.pages == 0
    var document = DocumentSource()
    document.isDelta = asksForDelta || frontier.mode == FeedMode.delta.rawValue
    document.identity = frontier.identity ?? feed.identity
    let request = PageRequest(
      url: frontier.next, isFirst: isFirst, conditions: isFirst ? conditions : nil,
      bodyHash: isFirst && !options.isFull && !hasNewMapping ? feed.bodyHash : nil,
      allowsPrivateAddresses: frontier.first?.isFromPrivateAddress ?? isTyped(frontier.next),
      document: document)
    return Task { [source] in try await source.fetch(request) }
  }

  /// Whether the operator himself has named the host, or one of his own network, whose word then
  /// counts as his.
  private func isTyped(_ url: String) -> Bool {
    guard let typed = WebURL.host(of: feed.url) else { return false }
    return Hosts.isPrivate(typed) || WebURL.host(of: url) == typed
  }
}
