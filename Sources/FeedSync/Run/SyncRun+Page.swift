import EntityModel
import EntityStore
import FeedDocuments
import Foundation
import HTTPClient

/// What a run does with a page.
extension SyncRun {
  var rules: ListingRules {
    ListingRules(
      mode: FeedMode(rawValue: frontier.mode) ?? .window,
      isNewEpoch: feed.epoch != nil && frontier.epoch != nil && feed.epoch != frontier.epoch,
      isNewMapping: feed.mappingHash != frontier.mappingHash)
  }

  /// Fits a page's items to entities and compares them with the store.
  mutating func accept(_ page: FeedPage, _ response: HTTPResponse) throws {
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
    try frontier.noteListing(page)
    let rejectedBefore = frontier.report.rejected
    let mapped = try mapper.map(page, &frontier.report)
    let rejected = frontier.report.rejected - rejectedBefore
    frontier.listed += mapped.count + rejected
    try frontier.checkRejections(page, rejected: rejected, of: mapped.count + rejected)
    if !options.allowsDeletions {
      try frontier.checkThatItemsAreLeft(
        page, rejected: rejected, of: mapped.count + rejected, before: feed.lastItems)
    }
    for entry in page.rejectedUsers {
      frontier.report.drop(entry.id, "user values left out: \(entry.reason)")
    }
    if frontier.report.rejected > rejectedBefore { frontier.isWhole = false }
    let changesBefore = changes.items.count
    try store.read { transaction in
      try changes.add(
        mapped, feedID: id, rules, seen: &seen, &frontier.report, in: transaction)
      changes.users += try UserStates.news(of: page.users, feedID: id, rules, in: transaction)
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
    case .query(let name, let value): URLQuery.setting(name, to: value, in: feed.requestURL)
    }
  }

  /// Commits what has been gathered when it is enough.
  ///
  /// - Returns: Whether there is another page.
  mutating func goOn(
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
  mutating func commit() async throws {
    guard !changes.isEmpty else { return }
    commits += 1
    let (id, write, targets, rules, changes) = (id, write, targets, rules, changes)
    let (frontier, seen, number) = (frontier, seen, commits)
    let isFull = frontier.mode == FeedMode.full.rawValue
    (self.frontier, self.seen) = try await store.write(author: "sync") { transaction in
      var (frontier, seen) = (frontier, seen)
      let writer = try PageWriter(feedID: id, rules: rules, targets: targets, in: transaction)
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
}
