import EntityModel
import EntityStore
import Foundation

/// One run of one feed, from its first request to its last transaction.
struct SyncRun {
  private var feed: Feed
  private let id: Int64
  private let store: Store
  private let source: PageSource
  private let options: SyncEngine.Options
  private let now: Date
  private let clock: @Sendable () -> Date
  private let targets: [String: FeedTarget]
  private let write: ChunkedWrite<RunFrontier>
  /// The hash of the mapping that the documents will be read by, unless their format has changed.
  private let expectedMapping: Int64?

  private var frontier: RunFrontier
  private var seen = SeenRecords()
  private var changes = PageChanges()
  private var mapper: ItemMapper
  /// What the first request is conditional on.
  private var conditions: HTTPConditions?
  /// Whether the page that was read last had items that are new or changed.
  private var hadNews = false
  /// Items mapped since the last commit, and the bytes of their pages.
  private var gathered = 0
  private var gatheredBytes = 0
  /// Commits of this run and of the one that it resumes.
  private var commits: Int64 = 0
  /// Of the page that was read last.
  private var checkpoint: String?
  private var hasRestarted = false
  /// An earlier run may have stored newer items without the older ones behind them.
  private var hasGap = false
  /// The next page, under way while the last ones are committed.
  private var ahead: Task<PageSource.Fetched, any Error>?

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
  private func fetchAhead() -> Task<PageSource.Fetched, any Error> {
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
    guard let typed = PageAddress.host(of: feed.url) else { return false }
    return Hosts.isPrivate(typed) || PageAddress.host(of: url) == typed
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
        expectedMapping == nil
        ? PageAddress.delta(of: feed.requestURL, since: checkpoint) : checkpoint
      frontier.beganWith = checkpoint
    }
    // A listing that is to heal what deltas missed is of use only whole.
    let heals = feed.checkpoint != nil && needsFullRun
    if !options.isFull, !heals, !hasNewMapping, !areValidatorsOld {
      conditions = feed.conditions(
        since: asksForDelta && expectedMapping == nil ? feed.checkpoint : nil)
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

  private var asksForDelta: Bool {
    frontier.pages == 0 && frontier.next != feed.requestURL
  }

  var areValidatorsOld: Bool {
    let age = feed.validatorsAt.map { now.timeIntervalSince($0) } ?? .infinity
    return age < 0 || age >= Limits.validatorsAgeMax
  }

  /// What is stored was read by another mapping: everything is fetched and compared anew.
  private var hasNewMapping: Bool { expectedMapping != feed.mappingHash }

  var needsFullRun: Bool {
    guard let fullAt = feed.fullAt, !hasNewMapping, !hasGap else { return true }
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
  private mutating func drop(_ mode: FeedMode?) async throws {
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

  // MARK: A page

  /// Whether the pages of a whole listing are of one state, as far as one can tell: where no version
  /// says so, what a change moves to another page moves the first one, which is asked for again.
  private mutating func isFirstPageTheSame() async throws -> Bool {
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
      case .page(let page, _): return listing(of: page) == frontier.firstListing
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

  private func listing(of page: FeedPage) -> Int64 {
    ContentHash.of(page.items.map(\.id).joined(separator: "\0"))
  }

  private var rules: ListingRules {
    ListingRules(
      mode: FeedMode(rawValue: frontier.mode) ?? .window,
      isNewEpoch: feed.epoch != nil && frontier.epoch != nil && feed.epoch != frontier.epoch,
      isNewMapping: feed.mappingHash != frontier.mappingHash)
  }

  /// Fits a page's items to entities and compares them with the store.
  private mutating func accept(_ page: FeedPage, _ response: HTTPResponse) throws {
    var page = page
    if !page.isComplete {
      // What else it would have listed, and how it would have ended, nobody knows.
      frontier.isWhole = false
      frontier.isCut = true
      page.items.removeAll(where: \.isDeleted)
    }
    if frontier.pages == 0 {
      frontier.mode = page.mode.rawValue
      frontier.report.mode = page.mode.rawValue
      frontier.version = page.version
      frontier.epoch = page.epoch
      frontier.first = FirstAnswer(
        response, checkpoint: asksForDelta ? feed.checkpoint : nil,
        timeToLive: page.timeToLive.map(Int64.init), isOwn: page.format == .homeFeed1, now: now)
    } else if page.version != frontier.version || page.epoch != frontier.epoch
      || page.mode.rawValue != frontier.mode
    {
      frontier.isPinned = false
    }
    frontier.format = page.format.rawValue
    frontier.mappingHash = page.mappingHash
    frontier.identity = page.identity ?? frontier.identity ?? feed.identity
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
    let changesBefore = changes.items.count
    try store.read { transaction in
      try changes.add(
        mapped, feedID: id, rules, seen: &seen, &frontier.report, in: transaction)
      for entry in page.users where try UserStates.isNews(entry, feedID: id, rules, in: transaction)
      {
        changes.users.append(entry)
      }
    }
    hadNews = changes.items.count > changesBefore
    gathered += page.items.count + page.users.count
    gatheredBytes += response.body.count
    frontier.pages += 1
    frontier.report.pages = frontier.pages
    if frontier.pages == 1, page.next == nil {
      frontier.bodyHash = response.body.withUnsafeBytes { ContentHash.of($0) }
    } else {
      frontier.bodyHash = nil
    }
    checkpoint = try nextCheckpoint(of: page, response)
  }

  /// As `begin` wants it: what homefeed/1 gave, or a whole URL.
  private func nextCheckpoint(of page: FeedPage, _ response: HTTPResponse) throws -> String? {
    switch page.nextRun {
    case nil: page.checkpoint
    case .url(let url): try PageAddress.resolve(url, from: response.effectiveURL)
    case .query(let name, let value): PageAddress.setting(name, to: value, in: feed.requestURL)
    }
  }

  /// The same page again, under whatever name, means that the listing never ends.
  private mutating func checkListing(_ page: FeedPage) throws {
    let asked = ContentHash.of(frontier.next)
    let listed = listing(of: page)
    if frontier.visited.contains(asked)
      || !page.items.isEmpty && frontier.listings.contains(listed)
    {
      throw SyncError(
        .repeatedPage, "the feed lists the same page again",
        [("url", shownURL(frontier.next)), ("page", String(frontier.pages + 1))],
        advice: "tell the feed's publisher; what was read before is kept", endsListing: true)
    }
    frontier.visited.insert(asked)
    frontier.listings.insert(listed)
    if frontier.pages == 0 { frontier.firstListing = listed }
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
      let example =
        page.rejected.first.map { ($0.id, $0.reason.description) }
        ?? frontier.report.rejections.last.map { ($0.id, $0.reason) }
      throw SyncError(
        .tooManyRejected, "too many items cannot be used",
        [
          ("rejected", "\(rejected) of \(total)"),
          ("for example", "\(example?.0 ?? "?"): \(example?.1 ?? "?")"),
        ], advice: "nothing of this page was stored")
    }
    // A delta may be empty, and a listing too if it says how it ends; a feed that had items and
    // has none is more likely broken.
    if frontier.pages == 0, rejected == total, page.mode != .delta, feed.lastItems > 0,
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
    // Behind a page of old news there is older news. Now and then the whole listing is read.
    if rules.mode == .window, !hadNews, !options.isFull, !needsFullRun, !rules.isNewMapping {
      frontier.isNewestOnly = true
      return false
    }
    do {
      frontier.next = try PageAddress.resolve(next, from: response.effectiveURL)
    } catch let error as SyncError where rules.mode == .window && error.code == .foreignPage {
      // Older items are not missed by a window, and its newest ones are here.
      frontier.report.faults += 1
      return false
    }
    if gathered >= Limits.itemsPerCommit || gatheredBytes >= Limits.pageBytesMax {
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
    gatheredBytes = 0
  }

  // MARK: Ending

  /// The last transaction: the last pages, deletions, and only then validators and checkpoint.
  private mutating func finish() async throws -> SyncReport {
    let (feed, id, write, targets, rules) = (feed, id, write, targets, rules)
    let (changes, options, now, checkpoint) = (changes, options, now, checkpoint)
    let (frontier, seen, clock) = (frontier, seen, clock)
    self.frontier.report = try await store.write(author: "sync") { transaction in
      var (report, seen) = (frontier.report, seen)
      let writer = PageWriter(feedID: id, rules: rules, targets: targets, in: transaction)
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
  private func finishNotModified(_ response: HTTPResponse) async throws -> SyncReport {
    var ended = feed
    ended.take(notModified: response, at: now)
    return try await finish(unchanged: ended)
  }

  private func finishSameBytes(_ response: HTTPResponse) async throws -> SyncReport {
    var ended = feed
    ended.take(again: firstAnswer(response), renews: areValidatorsOld, at: now)
    if frontier.next == feed.requestURL, needsFullRun { ended.fullAt = now }
    return try await finish(unchanged: ended)
  }

  private mutating func finishEmptyDelta(_ response: HTTPResponse) async throws -> SyncReport {
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
