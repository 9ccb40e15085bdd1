import EntityStore
import FeedDocuments
import Foundation
import HTTPClient

/// One run of one feed, from its first request to its last transaction: reads and writes the store
/// and fetches pages as ``SyncMachine`` decides.
struct SyncRun {
  private let id: Int64
  private let store: Store
  private let source: PageSource
  private let targets: [String: FeedTarget]
  /// The revision of the schema that the targets, and so all mapped rows, were made for.
  private let revision: UInt64
  private let clock: @Sendable () -> Date
  private let saved: Checkpoint<SyncCheckpoint>

  private var machine: SyncMachine
  private var seen = SeenRecords()
  private var changes = PageChanges()
  /// The next page, fetched while the last ones are committed.
  private var prefetched: Task<PageAnswer, any Error>?

  /// - Throws: `missingTarget`, `missingToken`, or an error of the mapping.
  init(
    feed: Feed, id: Int64, store: Store, transport: any HTTPTransport,
    options: SyncEngine.Options, now: Date, clock: @escaping @Sendable () -> Date
  ) throws {
    self.id = id
    self.store = store
    self.clock = clock
    let (targets, catalog) = try store.read { (try FeedTarget.all(in: $0), $0.catalog) }
    let schema = catalog.schema
    self.targets = targets
    revision = catalog.revision
    guard targets[feed.entity] != nil else {
      throw SyncError(
        .missingTarget, "the entity of the feed's items does not exist or cannot take a feed",
        [("entity", feed.entity)],
        advice: "choose another one (`mooring feed add URL --into ENTITY`)")
    }
    let mappings = try FeedMappings(feed.mappingText, schema: schema, entity: feed.entity)
    source = PageSource(
      transport: transport, feed: feed, token: try BearerToken.read(for: feed),
      mappings: mappings)
    machine = SyncMachine(
      feed: feed, options: options, now: now, mappings: mappings,
      mapper: ItemMapper(
        targets: targets, defaultEntity: feed.entity, feedID: id, now: now))
    saved = Checkpoint(name: "sync \(id)")
  }

  /// The counts of the run so far.
  var report: SyncReport { machine.report }

  mutating func run(_ progress: (SyncReport) -> Void) async throws -> SyncReport {
    defer { prefetched?.cancel() }
    var actions = machine.handle(.started(try savedCheckpoint()))
    while !actions.isEmpty {
      // A page that was fetched in time would be followed by the next one.
      try Task.checkCancellation()
      if let event = try await perform(actions.removeFirst(), progress) {
        actions += machine.handle(event)
      }
    }
    return report
  }

  /// Checks that the schema is still that of the run.
  ///
  /// - Throws: `conflict` if another process has changed it: the run must begin again, from its
  ///   checkpoint.
  private static func require(
    _ revision: UInt64, in transaction: ReadTransaction
  ) throws(StoreError) {
    if transaction.catalog.revision != revision { throw StoreError.schemaChanged() }
  }

  private func savedCheckpoint() throws -> SyncMachine.SavedCheckpoint {
    do {
      guard let progress = try store.read({ try saved.load(in: $0) }) else { return .none }
      return .saved(progress.position, commits: progress.chunks)
    } catch let error as StoreError where error.code == .damaged && !error.isStorageFailure {
      return .unreadable
    }
  }

  /// Performs an action. Returns the event that it leads to.
  private mutating func perform(
    _ action: SyncMachine.Action, _ progress: (SyncReport) -> Void
  ) async throws -> SyncMachine.Event? {
    switch action {
    case .recordPublicAddress: try await recordPublicAddress()
    case .loadSeenRecords: try store.read { try seen.load(feedID: id, in: $0) }
    case .discardCheckpoint(let leavesGap): try await discardCheckpoint(leavesGap: leavesGap)
    case .fetch(let request): return await fetch(request)
    case .prefetch(let request): prefetched = Task { [source] in try await source.fetch(request) }
    case .compare(let items, let users): return try compare(items, users)
    case .commit: return .committed(try await commit())
    case .reportProgress: progress(report)
    case .finish: return .finished(try await finish())
    case .finishUnchanged(let feed): try await store(feed)
    case .fail(let error): throw error
    }
    return nil
  }

  private func recordPublicAddress() async throws {
    try await store.write(author: "feed") { [id] transaction in
      try transaction.update(Feed.self, Feed.objectID(id)) { $0.hasPublicAddress = true }
    }
  }

  private mutating func fetch(_ request: PageRequest) async -> SyncMachine.Event {
    let task = prefetched ?? Task { [source] in try await source.fetch(request) }
    prefetched = nil
    do {
      return .answered(
        try await withTaskCancellationHandler {
          try await task.value
        } onCancel: {
          task.cancel()
        })
    } catch {
      return .fetchFailed(error)
    }
  }

  private mutating func compare(
    _ items: [MappedItem], _ users: [UserEntry]
  ) throws -> SyncMachine.Event {
    var report = report
    let (rules, before) = (machine.rules, changes.items.count)
    try store.read { transaction in
      try Self.require(revision, in: transaction)
      try changes.add(items, feedID: id, rules, seen: &seen, &report, in: transaction)
      changes.users += try UserStates.news(of: users, feedID: id, rules, in: transaction)
    }
    return .compared(
      report, newItems: changes.items.count - before, hasChanges: !changes.isEmpty)
  }

  /// Commits rows, seen records and the checkpoint in one transaction.
  private mutating func commit() async throws -> SyncReport {
    let (id, saved, targets, revision, changes) = (id, saved, targets, revision, changes)
    let (rules, checkpoint, seen, number) = (
      machine.rules, machine.checkpoint, seen, machine.commits
    )
    let report: SyncReport
    (report, self.seen) = try await store.write(author: "sync") { transaction in
      try Self.require(revision, in: transaction)
      var (checkpoint, seen) = (checkpoint, seen)
      let writer = try PageWriter(feedID: id, rules: rules, targets: targets, in: transaction)
      try writer.write(changes, seen: &seen, &checkpoint.report)
      if rules.mode == .full { try seen.save(feedID: id, number: Int(number), in: transaction) }
      try saved.save(
        checkpoint, rows: Int64(checkpoint.report.items), chunks: number, in: transaction)
      return (checkpoint.report, seen)
    }
    self.seen.didCommit()
    self.changes = PageChanges()
    return report
  }

  private mutating func discardCheckpoint(leavesGap: Bool) async throws {
    let (saved, id) = (saved, id)
    try await store.write(author: "sync") { transaction in
      try saved.remove(in: transaction)
      try SeenRecords.removeAll(feedID: id, in: transaction)
      guard leavesGap else { return }
      try transaction.update(Feed.self, Feed.objectID(id)) { $0.fullAt = nil }
    }
    seen = SeenRecords()
    changes = PageChanges()
  }

  /// The last transaction: the last pages, deletions, and with them validators and checkpoint.
  private func finish() async throws -> SyncReport {
    let (id, saved, targets, changes, seen) = (id, saved, targets, changes, seen)
    let revision = revision
    let (feed, checkpoint, rules, nextDelta) = (
      machine.feed, machine.checkpoint, machine.rules, machine.nextDelta
    )
    let (isIncomplete, deletesAbsent) = (machine.isIncomplete, machine.deletesAbsent)
    let (options, now, clock) = (machine.options, machine.now, clock)
    return try await store.write(author: "sync") { transaction in
      try Self.require(revision, in: transaction)
      var (report, seen) = (checkpoint.report, seen)
      let writer = try PageWriter(feedID: id, rules: rules, targets: targets, in: transaction)
      try writer.write(changes, seen: &seen, &report)
      if isIncomplete { report.outcome = .incomplete }
      if deletesAbsent {
        try Sweep(feedID: id, targets: targets, allowsAll: options.allowsDeletions)
          .run(seen, &report, in: transaction)
      }
      if rules.mode == .full { try SeenRecords.removeAll(feedID: id, in: transaction) }
      try saved.remove(in: transaction)
      let result = feed.after(checkpoint, report, nextDelta: nextDelta, at: now)
      try transaction.update(Feed.self, Feed.objectID(id)) { $0.merge(result) }
      try FeedRun.add(
        FeedRun(feedID: id, startedAt: now, endedAt: clock(), report), in: transaction)
      return report
    }
  }

  /// Stores the result of a run that found nothing new.
  private func store(_ result: Feed) async throws {
    let run = try FeedRun(feedID: id, startedAt: machine.now, endedAt: clock(), report)
    try await store.write(author: "feed") { [id] transaction in
      try transaction.update(Feed.self, Feed.objectID(id)) { $0.merge(result) }
      try FeedRun.add(run, in: transaction)
    }
  }
}
