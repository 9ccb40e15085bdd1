import EntityModel
import EntityStore
import Foundation

/// One run of one feed, from its first request to its last transaction.
struct SyncRun {
  private let feed: Feed
  private let id: Int64
  private let store: Store
  private let source: PageSource
  private let options: SyncEngine.Options
  private let now: Date
  private let targets: [String: FeedTarget]
  private let write: ChunkedWrite<RunFrontier>

  private var frontier: RunFrontier
  private var seen = SeenRecords()
  private var changes = PageChanges()
  private var mapper: ItemMapper
  private var validators = PageSource.Validators()
  /// Items mapped since the last commit.
  private var gathered = 0
  /// Commits of this run and of the one that it resumes.
  private var commits: Int64 = 0
  /// Of the page that was read last.
  private var checkpoint: String?
  private var hasRestarted = false
  /// The next page, under way while the last ones are committed.
  private var ahead: Task<PageSource.Fetched, any Error>?

  init(
    feed: Feed, id: Int64, store: Store, transport: any HTTPTransport,
    options: SyncEngine.Options, now: Date
  ) throws {
    self.feed = feed
    self.id = id
    self.store = store
    self.options = options
    self.now = now
    source = PageSource(
      transport: transport, feed: feed, token: try feed.tokenFile.map(BearerToken.read))
    targets = try store.read { try FeedTarget.all(in: $0) }
    guard targets[feed.entity] != nil else {
      throw SyncError(
        .missingTarget, "the entity of the feed's items is not there or cannot take a feed",
        [("entity", feed.entity)],
        advice: "choose another one (`mooring feed add URL --into ENTITY`)")
    }
    mapper = ItemMapper(
      targets: targets, defaultEntity: feed.entity, feedID: id, now: now)
    write = ChunkedWrite(name: "sync \(id)", author: "sync")
    frontier = RunFrontier(
      mode: "", startedAt: now.timeIntervalSince1970, next: feed.url,
      report: SyncReport(feed: feed.url))
  }

  mutating func run(_ progress: (SyncReport) -> Void) async throws -> SyncReport {
    try await begin()
    defer { ahead?.cancel() }
    do {
      return try await readPages(progress)
    } catch let error as SyncError where error.endsListing {
      // To go on where this listing has come to would only meet the same fault.
      try await drop()
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
          [("url", frontier.next), ("status", "204")], advice: "tell the feed's publisher")
      case .resync:
        try await restartInFull()
      case .page(let page, _) where isFirst && asksForDelta && isGap(page):
        try await restartInFull()
      case .page(let page, let response):
        try accept(page, response)
        if try await !goOn(after: page, response, progress) { return try await finish() }
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
      // What came before is whole: the next run begins with the page that failed.
      try await commit()
      throw error
    }
  }

  /// Begins to fetch and to read the next page, so that it comes while this one is committed.
  private func fetchAhead() -> Task<PageSource.Fetched, any Error> {
    let (source, url, isFirst) = (source, frontier.next, frontier.pages == 0)
    let validators = isFirst ? validators : .init()
    let bodyHash = isFirst && !options.isFull ? feed.bodyHash : nil
    return Task {
      try await source.fetch(url, isFirst: isFirst, validators: validators, bodyHash: bodyHash)
    }
  }

  // MARK: Beginning

  /// Chooses between a delta and the whole listing, or goes on with an interrupted run.
  private mutating func begin() async throws {
    let interrupted = try await interruptedRun()
    let isRecent =
      interrupted.map {
        now.timeIntervalSince1970 - $0.frontier.startedAt < Limits.resumeAgeMax
          && now.timeIntervalSince1970 >= $0.frontier.startedAt
      } ?? false
    if let interrupted, isRecent, !(options.isFull && interrupted.frontier.mode == "delta") {
      frontier = interrupted.frontier
      frontier.report.isResumed = true
      commits = interrupted.chunks
      try store.read { try seen.load(feedID: id, in: $0) }
      return
    }
    if interrupted != nil { try await drop() }
    if let checkpoint = feed.checkpoint, !options.isFull, !needsFullRun {
      frontier.next = PageAddress.delta(of: feed.url, since: checkpoint)
    }
    // A listing that is to heal what deltas missed is of use only whole.
    let heals = feed.checkpoint != nil && needsFullRun
    if !options.isFull, !heals, !areValidatorsOld {
      validators = .init(etag: feed.etag, lastModified: feed.lastModified)
    }
  }

  /// A frontier that this program cannot read is as good as none.
  private func interruptedRun() async throws -> ChunkedWrite<RunFrontier>.Progress? {
    let write = write
    do {
      return try store.read { try write.load(in: $0) }
    } catch let error as StoreError where error.code == .damaged {
      try await drop()
      return nil
    }
  }

  private var asksForDelta: Bool {
    frontier.pages == 0 && frontier.next != feed.url
  }

  var areValidatorsOld: Bool {
    let age = feed.validatorsAt.map { now.timeIntervalSince($0) } ?? .infinity
    return age < 0 || age >= Limits.validatorsAgeMax
  }

  var needsFullRun: Bool {
    guard let fullAt = feed.fullAt else { return true }
    return abs(now.timeIntervalSince(fullAt)) > Limits.fullRunAgeMax
  }

  /// Whether changes are missing between what is stored and what the delta begins with.
  private func isGap(_ page: FeedPage) -> Bool {
    guard page.mode == .delta else { return false }
    if let epoch = feed.epoch, epoch != page.epoch { return true }
    if let since = page.since, let version = feed.version { return since > version }
    return false
  }

  private mutating func restartInFull() async throws {
    guard frontier.next != feed.url, !hasRestarted else {
      throw SyncError(
        .badStatus, "the server asks for a full run though it was asked for one",
        [("url", frontier.next)], advice: "tell the feed's publisher", endsListing: true)
    }
    hasRestarted = true
    try await drop()
    let requests = (frontier.report.requests, frontier.report.bytes)
    frontier = RunFrontier(
      mode: "", startedAt: now.timeIntervalSince1970, next: feed.url,
      report: SyncReport(feed: feed.url))
    (frontier.report.requests, frontier.report.bytes) = requests
    validators = .init()
    seen = SeenRecords()
    changes = PageChanges()
    gathered = 0
    commits = 0
  }

  private func drop() async throws {
    let (write, id) = (write, id)
    try await store.write(author: "sync") { transaction in
      try write.finish(in: transaction)
      try SeenRecords.removeAll(feedID: id, in: transaction)
    }
  }

  // MARK: A page

  private var rules: ListingRules {
    ListingRules(
      mode: FeedMode(rawValue: frontier.mode) ?? .window,
      isNewEpoch: feed.epoch != nil && frontier.epoch != nil && feed.epoch != frontier.epoch)
  }

  /// Fits a page's items to entities and compares them with the store.
  private mutating func accept(_ page: FeedPage, _ response: HTTPResponse) throws {
    if frontier.pages == 0 {
      frontier.mode = page.mode.rawValue
      frontier.report.mode = page.mode.rawValue
      frontier.version = page.version
      frontier.epoch = page.epoch
      frontier.etag = PageSource.validator("ETag", of: response)
      frontier.lastModified = PageSource.validator("Last-Modified", of: response)
    } else if page.version != frontier.version || page.epoch != frontier.epoch
      || page.mode.rawValue != frontier.mode
    {
      frontier.isPinned = false
    }
    frontier.format = page.format.rawValue
    frontier.title = frontier.title ?? page.title
    try checkListing(page)
    let rejectedBefore = frontier.report.rejected
    let mapped = try mapper.map(page, &frontier.report)
    let rejected = frontier.report.rejected - rejectedBefore
    frontier.listed += mapped.count + rejected
    try checkRejections(page, rejected: rejected, of: mapped.count + rejected)
    for entry in page.rejectedUsers {
      frontier.report.drop(entry.id, "user values left out: \(entry.reason)")
    }
    if frontier.report.rejected > rejectedBefore { frontier.isWhole = false }
    try store.read { transaction in
      try changes.add(
        mapped, feedID: id, rules, seen: &seen, &frontier.report, in: transaction)
      for entry in page.users where try UserStates.isNews(entry, feedID: id, rules, in: transaction)
      {
        changes.users.append(entry)
      }
    }
    gathered += page.items.count + page.users.count
    frontier.pages += 1
    frontier.report.pages = frontier.pages
    if frontier.pages == 1, page.next == nil {
      frontier.bodyHash = response.body.withUnsafeBytes { ContentHash.of($0) }
    } else {
      frontier.bodyHash = nil
    }
    checkpoint = page.checkpoint
  }

  /// The same page again, under whatever name, means that the listing never ends.
  private mutating func checkListing(_ page: FeedPage) throws {
    let asked = ContentHash.of(frontier.next)
    let listed = ContentHash.of(page.items.map(\.id).joined(separator: "\0"))
    if frontier.visited.contains(asked)
      || !page.items.isEmpty && frontier.listings.contains(listed)
    {
      throw SyncError(
        .repeatedPage, "the feed lists the same page again",
        [("url", frontier.next), ("page", String(frontier.pages + 1))],
        advice: "tell the feed's publisher; what was read before is kept", endsListing: true)
    }
    frontier.visited.insert(asked)
    frontier.listings.insert(listed)
    guard frontier.pages < Limits.pagesPerRunMax, frontier.report.items < Limits.itemsPerRunMax
    else {
      throw SyncError(
        .tooManyPages, "the feed does not end",
        [("pages", String(frontier.pages)), ("items", String(frontier.report.items))],
        advice: "tell the feed's publisher; what was read before is kept", endsListing: true)
    }
  }

  /// Holds both the page and the run so far against the limit: pages may be small.
  private func checkRejections(_ page: FeedPage, rejected: Int, of total: Int) throws {
    let run = (rejected: frontier.report.rejected, total: frontier.listed)
    for (rejected, total) in [(rejected, total), (run.rejected, run.total)]
    where rejected >= Limits.rejectedCountMin
      && Double(rejected) > Limits.rejectedShareMax * Double(total)
    {
      let example = frontier.report.rejections.last
      throw SyncError(
        .tooManyRejected, "too many items cannot be used",
        [
          ("rejected", "\(rejected) of \(total)"),
          ("for example", "\(example?.id ?? "?"): \(example?.reason ?? "?")"),
        ], advice: "nothing of this page was stored")
    }
    // A delta may be empty, and a listing too if it says how it ends; a feed that had items and
    // has none is more likely broken.
    if frontier.pages == 0, page.items.isEmpty, page.mode != .delta, feed.lastItems > 0,
      !options.allowsDeletions
    {
      throw SyncError(
        .emptied, "the feed lists no items though it had some",
        [("it had", String(feed.lastItems))],
        advice: "if it is meant, run `mooring sync --full --allow-deletions`")
    }
  }

  /// Commits what has been gathered when it is enough.
  ///
  /// - Returns: Whether there is another page.
  private mutating func goOn(
    after page: FeedPage, _ response: HTTPResponse, _ progress: (SyncReport) -> Void
  ) async throws -> Bool {
    guard let next = page.next else { return false }
    frontier.next = try PageAddress.resolve(next, from: response.effectiveURL)
    if gathered >= Limits.itemsPerCommit {
      ahead = fetchAhead()
      try await commit()
      progress(frontier.report)
    }
    return true
  }

  /// One transaction: rows, what has been seen, and the frontier. A page that changes nothing is
  /// not worth one: after a kill it is read again.
  private mutating func commit() async throws {
    guard !changes.isEmpty else { return }
    commits += 1
    let (id, write, targets, rules, changes) = (id, write, targets, rules, changes)
    let (frontier, seen, number) = (frontier, seen, commits)
    let isFull = frontier.mode == FeedMode.full.rawValue
    (self.frontier, self.seen) = try await store.write(author: "sync") { transaction in
      var (frontier, seen) = (frontier, seen)
      let writer = PageWriter(feedID: id, rules: rules, targets: targets, in: transaction)
      try writer.write(changes, seen: &seen, &frontier.report)
      if isFull { try seen.save(feedID: id, number: Int(number), in: transaction) }
      try write.save(
        .init(frontier: frontier, rows: Int64(frontier.report.items), chunks: number),
        in: transaction)
      return (frontier, seen)
    }
    self.seen.didCommit()
    self.changes = PageChanges()
    gathered = 0
  }

  // MARK: Ending

  /// The last transaction: the last pages, deletions, and only then validators and checkpoint.
  private mutating func finish() async throws -> SyncReport {
    let (feed, id, write, targets, rules) = (feed, id, write, targets, rules)
    let (changes, options, now, checkpoint) = (changes, options, now, checkpoint)
    let (frontier, seen) = (frontier, seen)
    self.frontier.report = try await store.write(author: "sync") { transaction in
      var (report, seen) = (frontier.report, seen)
      let writer = PageWriter(feedID: id, rules: rules, targets: targets, in: transaction)
      try writer.write(changes, seen: &seen, &report)
      let isWhole = frontier.isWhole && frontier.isPinned
      if !isWhole, rules.mode != .window { report.outcome = .incomplete }
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
      return report
    }
    return self.frontier.report
  }

  /// The validators of the answer replace those of the request (RFC 9110, 15.4.5). They are not
  /// renewed by that, so that a server stuck on 304 is asked in earnest one day.
  private func finishNotModified(_ response: HTTPResponse) async throws -> SyncReport {
    var ended = feed
    ended.etag = PageSource.validator("ETag", of: response) ?? feed.etag
    ended.lastModified = PageSource.validator("Last-Modified", of: response) ?? feed.lastModified
    return try await finish(unchanged: ended)
  }

  private func finishSameBytes(_ response: HTTPResponse) async throws -> SyncReport {
    var ended = feed
    ended.etag = PageSource.validator("ETag", of: response)
    ended.lastModified = PageSource.validator("Last-Modified", of: response)
    if areValidatorsOld || !ended.hasValidators(of: feed) { ended.validatorsAt = now }
    if frontier.next == feed.url, needsFullRun { ended.fullAt = now }
    return try await finish(unchanged: ended)
  }

  private mutating func finishEmptyDelta(_ response: HTTPResponse) async throws -> SyncReport {
    frontier.report.mode = FeedMode.delta.rawValue
    var ended = feed
    ended.checkpoint = response.header("Homefeed-Checkpoint") ?? feed.checkpoint
    ended.etag = PageSource.validator("ETag", of: response)
    ended.lastModified = PageSource.validator("Last-Modified", of: response)
    if !ended.hasValidators(of: feed) { ended.validatorsAt = now }
    return try await finish(unchanged: ended)
  }

  /// Ends a run that had nothing to store but what the server said of its answer; if that is
  /// nothing new either, nothing is written.
  private func finish(unchanged ended: Feed) async throws -> SyncReport {
    var ended = ended
    ended.forgetErrors()
    if ended != feed { try await Feeds(store).update(id) { [ended] in $0.take(ended) } }
    var report = frontier.report
    report.outcome = .notModified
    return report
  }
}
