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
  /// True if the store had entries of users when the listing began.
  private var hasUserStates: Bool
  /// False while all records of items are new ones of this listing.
  private var hasRecords: Bool

  private var machine: SyncMachine
  /// The records that the comparisons and the commits have met.
  private var seen = SeenRecords()
  /// The changes that are not handed over yet.
  private var changes = PageChanges()
  private var commits: PageCommits
  /// The changes that were handed over and are not committed yet, with their numbers.
  private var handedOver: [(number: Int64, changes: PageChanges)] = []
  /// The counts of the commits.
  private var written = WriteCounts()
  /// The next page, fetched while the last ones are committed.
  private var prefetched: Task<PageAnswer, any Error>?

  /// - Throws: `missingTarget`, `missingSecret`, or an error of the mapping.
  init(
    feed: Feed, id: Int64, store: Store, transport: any HTTPTransport,
    options: SyncEngine.Options, now: Date, clock: @escaping @Sendable () -> Date
  ) throws {
    self.id = id
    self.store = store
    self.clock = clock
    let (targets, catalog, hasUserStates, hasRecords) = try store.read { transaction in
      let targets = try FeedTarget.all(in: transaction)
      return (
        targets, transaction.catalog, try UserStateTable.hasEntries(in: transaction),
        try targets.keys.contains { try transaction.count(of: $0) > 0 }
      )
    }
    self.hasUserStates = hasUserStates
    self.hasRecords = hasRecords
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
      transport: transport, feed: feed, secrets: try feed.secrets.read(), mappings: mappings)
    machine = SyncMachine(
      feed: feed, options: options, now: now, mappings: mappings,
      mapper: ItemMapper(
        targets: targets, defaultEntity: feed.entity, feedID: id, now: now))
    saved = Checkpoint(name: "sync \(id)")
    commits = PageCommits(
      store: store, feedID: id, targets: targets, revision: revision, saved: saved,
      candidateAddedAt: options.candidateAddedAt, hasUserStates: hasUserStates,
      seen: SeenRecords())
  }

  /// The counts of the run so far, without those of pages that are not committed yet.
  var report: SyncReport { machine.report.adding(written) }

  mutating func run(_ progress: (SyncReport) -> Void) async throws -> SyncReport {
    defer { prefetched?.cancel() }
    do {
      var actions = machine.handle(.started(try savedCheckpoint()))
      while !actions.isEmpty {
        // A page that was fetched in time would be followed by the next one.
        try Task.checkCancellation()
        if let event = try await perform(actions.removeFirst(), progress) {
          actions += machine.handle(event)
        }
      }
      return report
    } catch {
      // The next run must not begin before the last commit of this one.
      await commits.end()
      noteCommits(progress)
      throw error
    }
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
    case .loadSeenRecords: try loadSeenRecords()
    case .discardCheckpoint(let leavesGap):
      try await awaitCommits(progress)
      try await discardCheckpoint(leavesGap: leavesGap)
    case .fetch(let request): return await fetch(request)
    case .prefetch(let request): prefetched = Task { [source] in try await source.fetch(request) }
    case .compare(let items, let users):
      noteCommits(progress)
      return try compare(items, users)
    case .commit: try await commit()
    case .finish:
      try await awaitCommits(progress)
      let report = try await finish()
      // The report contains them.
      written = WriteCounts()
      return .finished(report)
    case .finishUnchanged(let feed): try await store(feed)
    case .fail(let error):
      try await awaitCommits(progress)
      throw error
    }
    return nil
  }

  private mutating func loadSeenRecords() throws {
    try store.read { try seen.load(feedID: id, in: $0) }
    begin(with: seen)
  }

  /// Begins the commits of a listing.
  ///
  /// - Parameter seen: The records that the resumed run has met.
  private mutating func begin(with seen: SeenRecords) {
    commits = PageCommits(
      store: store, feedID: id, targets: targets, revision: revision, saved: saved,
      candidateAddedAt: machine.options.candidateAddedAt, hasUserStates: hasUserStates, seen: seen)
  }

  /// Waits until all pages that were handed over are committed.
  private mutating func awaitCommits(_ progress: (SyncReport) -> Void) async throws {
    defer { noteCommits(progress) }
    try await commits.finish()
  }

  /// Takes over the results of the commits so far.
  private mutating func noteCommits(_ progress: (SyncReport) -> Void) {
    let committed = commits.takeCommitted()
    guard let number = committed.number else { return }
    written = committed.counts
    // Items are listed again.
    if written.new < written.items { hasRecords = true }
    seen.insert(committed: committed.seen)
    handedOver.removeAll { $0.number <= number }
    if let report = committed.report { progress(report) }
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
    var report = machine.report
    let (rules, before) = (machine.rules, changes.items.count)
    let pending = handedOver.map(\.changes)
    try store.read { transaction in
      try transaction.requireSchema(revision)
      try changes.add(
        items, feedID: id, rules, hasRecords: hasRecords, pending: pending, seen: &seen, &report,
        in: transaction)
      changes.users += try UserStates.news(
        of: users, feedID: id, rules, hasEntries: hasUserStates, in: transaction)
    }
    return .compared(
      report, newItems: changes.items.count - before, hasChanges: !changes.isEmpty)
  }

  /// Hands over the changes with the checkpoint after them.
  private mutating func commit() async throws {
    let pages = PageCommits.Pages(
      changes: changes, checkpoint: machine.checkpoint, rules: machine.rules,
      seen: seen.uncommitted, number: machine.commits)
    try await commits.add(pages)
    handedOver.append((pages.number, changes))
    changes = PageChanges()
    seen.didCommit()
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
    // The pages before may have left records, and entries that wait for their items.
    (hasUserStates, hasRecords) = (true, true)
    begin(with: seen)
  }

  /// The last transaction: the last pages, deletions, and with them validators and checkpoint.
  ///
  /// - Throws: `nothingUsable` if no item of the listing can be used.
  private func finish() async throws -> SyncReport {
    try machine.checkpoint.checkUsable(
      hasOwnMapping: machine.feed.mappingText != nil)
    let (id, saved, targets, changes, seen) = (id, saved, targets, changes, seen)
    let (revision, written, hasUserStates) = (revision, written, hasUserStates)
    let (feed, checkpoint, rules, nextDelta) = (
      machine.feed, machine.checkpoint, machine.rules, machine.nextDelta
    )
    let (isIncomplete, deletesAbsent) = (machine.isIncomplete, machine.deletesAbsent)
    let (options, now, clock) = (machine.options, machine.now, clock)
    return try await store.write(author: "sync") { transaction in
      try transaction.requireSchema(revision)
      var (counts, seen) = (written, seen)
      let writer = try PageWriter(
        feedID: id, rules: rules, targets: targets, hasUserStates: hasUserStates, in: transaction)
      try writer.write(changes, seen: &seen, &counts)
      var report = checkpoint.report.adding(counts)
      if isIncomplete { report.outcome = .incomplete }
      if deletesAbsent {
        try Sweep(feedID: id, targets: targets, allowsAll: options.allowsDeletions)
          .run(seen, &report, in: transaction)
      }
      if rules.mode == .full { try SeenRecords.removeAll(feedID: id, in: transaction) }
      try saved.remove(in: transaction)
      let result = feed.after(checkpoint, report, nextDelta: nextDelta, at: now)
      try transaction.update(Feed.self, Feed.objectID(id)) { stored in
        stored.merge(result)
        stored.restore(fromCandidate: options.candidateAddedAt, at: transaction.now)
      }
      try FeedRun.add(
        FeedRun(feedID: id, startedAt: now, endedAt: clock(), report), in: transaction)
      return report
    }
  }

  /// Stores the result of a run that found nothing new.
  private func store(_ result: Feed) async throws {
    let run = try FeedRun(feedID: id, startedAt: machine.now, endedAt: clock(), report)
    let addedAt = machine.options.candidateAddedAt
    try await store.write(author: "feed") { [id] transaction in
      try transaction.update(Feed.self, Feed.objectID(id)) { stored in
        stored.merge(result)
        stored.restore(fromCandidate: addedAt, at: transaction.now)
      }
      try FeedRun.add(run, in: transaction)
    }
  }
}
