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
  private var lastPage: (page: FeedPage, response: HTTPResponse)?

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
      transport: transport, feed: feed, token: try feed.tokenFile.map(SyncRun.token))
    targets = try store.read { try FeedTarget.all(in: $0) }
    mapper = ItemMapper(
      targets: targets, defaultEntity: feed.entity, feedID: id, now: now)
    write = ChunkedWrite(name: "sync \(id)", author: "sync")
    frontier = RunFrontier(
      mode: "", startedAt: now.timeIntervalSince1970, next: feed.url,
      report: SyncReport(feed: feed.url))
  }

  mutating func run(_ progress: (SyncReport) -> Void) async throws -> SyncReport {
    try await begin()
    while true {
      let isFirst = frontier.pages == 0
      let answer = try await source.fetch(
        frontier.next, validators: isFirst ? validators : .init(),
        bodyHash: isFirst && !options.isFull ? feed.bodyHash : nil, &frontier.report)
      switch answer {
      case .notModified(let response), .sameBytes(let response):
        return try await finishUnchanged(response)
      case .nothing(let response):
        return try await finishEmptyDelta(response)
      case .resync:
        try await restartInFull()
      case .page(let page, let response):
        try accept(page, response)
        if try await !goOn(after: page, response, progress) { return try await finish() }
      }
    }
  }

  // MARK: Beginning

  /// Chooses between a delta and the whole listing, or goes on with an interrupted run.
  private mutating func begin() async throws {
    let write = write
    let interrupted = try store.read { try write.load(in: $0) }
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
      frontier.next = SyncRun.deltaURL(feed.url, since: checkpoint)
    }
    let age = feed.validatorsAt.map { now.timeIntervalSince($0) } ?? .infinity
    if !options.isFull, age >= 0, age < Limits.validatorsAgeMax {
      validators = .init(etag: feed.etag, lastModified: feed.lastModified)
    }
  }

  private var needsFullRun: Bool {
    guard let fullAt = feed.fullAt else { return true }
    return abs(now.timeIntervalSince(fullAt)) > Limits.fullRunAgeMax
  }

  private mutating func restartInFull() async throws {
    guard frontier.next != feed.url else {
      throw SyncError(
        .badStatus, "the server asks for a full run though it was asked for one",
        [("url", feed.url)], advice: "tell the feed's publisher")
    }
    try await drop()
    let requests = (frontier.report.requests, frontier.report.bytes)
    frontier = RunFrontier(
      mode: "", startedAt: now.timeIntervalSince1970, next: feed.url,
      report: SyncReport(feed: feed.url))
    (frontier.report.requests, frontier.report.bytes) = requests
    validators = .init()
    seen = SeenRecords()
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
      frontier.etag = response.header("ETag")
      frontier.lastModified = response.header("Last-Modified")
    } else if page.version != frontier.version || page.epoch != frontier.epoch {
      frontier.isPinned = false
    }
    try checkListing(page)
    let rejectedBefore = frontier.report.rejected
    let mapped = try mapper.map(page, &frontier.report)
    try checkRejections(page, rejected: frontier.report.rejected - rejectedBefore, mapped.count)
    if frontier.report.rejected > rejectedBefore { frontier.isWhole = false }
    try store.read { transaction in
      try changes.add(
        mapped, feedID: id, rules, seen: &seen, &frontier.report, in: transaction)
      for entry in page.users where try UserStates.isNews(entry, feedID: id, rules, in: transaction)
      {
        changes.users.append(entry)
      }
    }
    gathered += page.items.count
    frontier.pages += 1
    frontier.report.pages = frontier.pages
    if frontier.pages == 1, page.next == nil {
      frontier.bodyHash = response.body.withUnsafeBytes { ContentHash.of($0) }
    } else {
      frontier.bodyHash = nil
    }
    lastPage = (page, response)
  }

  /// The same page again, under whatever name, means that the listing never ends.
  private mutating func checkListing(_ page: FeedPage) throws {
    let asked = ContentHash.of(frontier.next)
    let listed = ContentHash.of(page.items.map(\.id).joined(separator: "\0"))
    let repeats =
      frontier.visited.contains(asked)
      || (!page.items.isEmpty && frontier.listings.contains(listed))
    if repeats {
      throw SyncError(
        .repeatedPage, "the feed lists the same page again",
        [("url", frontier.next), ("page", String(frontier.pages + 1))],
        advice: "tell the feed's publisher; what was read before is kept")
    }
    frontier.visited.append(asked)
    frontier.listings.append(listed)
    guard frontier.pages < Limits.pagesPerRunMax,
      frontier.report.items < Limits.itemsPerRunMax
    else {
      throw SyncError(
        .tooManyPages, "the feed does not end",
        [("pages", String(frontier.pages)), ("items", String(frontier.report.items))],
        advice: "tell the feed's publisher; what was read before is kept")
    }
  }

  private func checkRejections(_ page: FeedPage, rejected: Int, _ mapped: Int) throws {
    let total = mapped + rejected
    if rejected >= Limits.rejectedCountMin,
      Double(rejected) > Limits.rejectedShareMax * Double(total)
    {
      let first = frontier.report.rejections.last
      throw SyncError(
        .tooManyRejected, "too many items of a page cannot be used",
        [
          ("rejected", "\(rejected) of \(total)"),
          ("for example", "\(first?.id ?? "?"): \(first?.reason ?? "?")"),
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
    frontier.next = try SyncRun.resolve(next, from: response.effectiveURL)
    if gathered >= Limits.itemsPerCommit {
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
    let (changes, options, now, last) = (changes, options, now, lastPage)
    let (frontier, seen) = (frontier, seen)
    self.frontier.report = try await store.write(author: "sync") { transaction in
      var (report, seen) = (frontier.report, seen)
      let writer = PageWriter(feedID: id, rules: rules, targets: targets, in: transaction)
      try writer.write(changes, seen: &seen, &report)
      if frontier.mode == FeedMode.full.rawValue {
        if frontier.isWhole, frontier.isPinned {
          try Sweep(feedID: id, targets: targets, allowsAll: options.allowsDeletions)
            .run(seen, &report, in: transaction)
        } else {
          report.outcome = .incomplete
        }
        try SeenRecords.removeAll(feedID: id, in: transaction)
      }
      try write.finish(in: transaction)
      let ended = SyncRun.ended(feed, frontier, report, last?.page, now)
      if ended != feed {
        try transaction.update(Feed.self, ObjectID(entity: Feed.entityName, number: id)) {
          $0.take(ended)
        }
      }
      return report
    }
    return self.frontier.report
  }

  /// The feed as a whole run leaves it.
  private static func ended(
    _ feed: Feed, _ frontier: RunFrontier, _ report: SyncReport, _ page: FeedPage?, _ now: Date
  ) -> Feed {
    var feed = feed
    feed.errors = 0
    feed.lastError = nil
    feed.waitUntil = nil
    feed.format = page?.format.rawValue ?? feed.format
    feed.title = page?.title ?? feed.title
    if report.new + report.changed + report.deleted > 0 { feed.changedAt = now }
    // Not whole, or refused: the next run asks for everything again.
    guard report.outcome == .synced, page?.mode != .delta || frontier.isWhole else {
      feed.forgetValidators()
      feed.forgetCheckpoint()
      return feed
    }
    feed.etag = frontier.etag
    feed.lastModified = frontier.lastModified
    feed.validatorsAt = now
    feed.bodyHash = frontier.bodyHash
    feed.epoch = frontier.epoch
    feed.version = frontier.version
    feed.checkpoint = page?.checkpoint
    if page?.mode != .delta {
      feed.fullAt = now
      feed.lastItems = Int64(report.items)
    }
    return feed
  }

  /// Nothing is new. The validators of the answer replace those of the request (RFC 9110 15.4.5);
  /// if they are the same, nothing is written.
  private mutating func finishUnchanged(_ response: HTTPResponse) async throws -> SyncReport {
    frontier.report.outcome = .notModified
    let etag = response.header("ETag") ?? feed.etag
    let lastModified = response.header("Last-Modified") ?? feed.lastModified
    if etag != feed.etag || lastModified != feed.lastModified || feed.errors > 0 {
      try await Feeds(store).update(id) { feed in
        feed.etag = etag
        feed.lastModified = lastModified
        feed.errors = 0
        feed.lastError = nil
        feed.waitUntil = nil
      }
    }
    return frontier.report
  }

  private mutating func finishEmptyDelta(_ response: HTTPResponse) async throws -> SyncReport {
    frontier.report.mode = FeedMode.delta.rawValue
    frontier.report.outcome = .notModified
    let checkpoint = response.header("Homefeed-Checkpoint") ?? feed.checkpoint
    let etag = response.header("ETag")
    if checkpoint != feed.checkpoint || etag != feed.etag || feed.errors > 0 {
      try await Feeds(store).update(id) { [now] feed in
        feed.checkpoint = checkpoint
        feed.etag = etag
        feed.validatorsAt = now
        feed.errors = 0
        feed.lastError = nil
      }
    }
    return frontier.report
  }

  // MARK: URLs and secrets

  private static func deltaURL(_ url: String, since checkpoint: String) -> String {
    var allowed = CharacterSet.alphanumerics
    allowed.insert(charactersIn: "-._~")
    let value = checkpoint.addingPercentEncoding(withAllowedCharacters: allowed) ?? checkpoint
    return url + (url.contains("?") ? "&" : "?") + "since=" + value
  }

  /// The next page is on the origin of this one: a feed cannot send its reader elsewhere.
  private static func resolve(_ next: String, from base: String) throws -> String {
    guard let page = URL(string: base), let url = URL(string: next, relativeTo: page)?.absoluteURL,
      url.scheme == page.scheme, url.host == page.host, url.port == page.port
    else {
      throw SyncError(
        .foreignPage, "the feed's next page is on another server",
        [("page", base), ("next", String(next.prefix(200)))],
        advice: "add the other URL as a feed of its own if it is meant")
    }
    return url.absoluteString
  }

  private static func token(_ file: String) throws -> String {
    guard let data = FileManager.default.contents(atPath: file),
      let text = String(data: data, encoding: .utf8),
      let line = text.split(whereSeparator: \.isNewline).first, !line.isEmpty
    else {
      throw SyncError(
        .missingToken, "the token file cannot be read or is empty", [("file", file)],
        advice: "its first line is sent as a bearer token")
    }
    return line.trimmingCharacters(in: .whitespaces)
  }
}

extension Feed {
  /// Takes over what a run has found out; settings that were changed meanwhile stay.
  fileprivate mutating func take(_ ended: Feed) {
    let (entity, every, tokenFile) = (entity, every, tokenFile)
    let (isPaused, isRemoved) = (isPaused, isRemoved)
    self = ended
    (self.entity, self.every, self.tokenFile) = (entity, every, tokenFile)
    (self.isPaused, self.isRemoved) = (isPaused, isRemoved)
  }
}
