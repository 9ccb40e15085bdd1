import EntityStore
import FeedDocuments
import Foundation
import SystemSupport

/// Commits the pages of a run, in their order, while its task reads further pages.
///
/// A transaction takes the pages that are ready, while it has room and nobody else waits to write
/// (see ``WriteTransaction/hasRoomForChunk()``). It never waits for a page. With the last page that
/// it takes it stores the checkpoint, so that a kill loses the pages of one transaction and those
/// that wait, which are read again.
final class PageCommits: Sendable {
  /// Pages that were compared with the store, and the position of the run after them.
  struct Pages: Sendable {
    let changes: PageChanges
    /// Without the counts of this and earlier writes.
    let checkpoint: SyncCheckpoint
    let rules: ListingRules
    /// The records that the comparison has met since the pages before.
    let seen: [String: [Int64]]
    /// The number of these pages in the run and in the ones that it resumes.
    let number: Int64
  }

  fileprivate struct State {
    var waiting: [Pages] = []
    var isWriting = false
    /// The error that has ended the writing.
    var failure: (any Error)?
    /// The records that the committed pages have met.
    var seen = SeenRecords()
    /// The result of the current transaction. The pages themselves are released as they are
    /// written.
    var next: (seen: SeenRecords, counts: WriteCounts, number: Int64, report: SyncReport)?
    var committed = Committed()
    /// Callers that wait until the current transaction has taken pages or has ended.
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  /// The commits since the last call of ``takeCommitted()``.
  struct Committed {
    /// The counts of all commits of the run.
    var counts = WriteCounts()
    /// The number of the last commit's pages; `nil` if there was no commit.
    var number: Int64?
    /// The records that the commits have met.
    var seen: [String: [Int64]] = [:]
    /// The report of the last commit.
    var report: SyncReport?
  }

  /// The pages that may wait for their transaction, so that reading goes on during a commit.
  private static let waitingMax = 3

  private let store: Store
  private let feedID: Int64
  private let targets: [String: FeedTarget]
  private let revision: UInt64
  private let saved: Checkpoint<SyncCheckpoint>
  private let hasUserStates: Bool
  /// The time at which the feed became a candidate, if it becomes active with its first commit.
  private let candidateAddedAt: Date?
  private let state: Locked<State>

  /// - Parameter seen: The records that the resumed run has met.
  init(
    store: Store, feedID: Int64, targets: [String: FeedTarget], revision: UInt64,
    saved: Checkpoint<SyncCheckpoint>, candidateAddedAt: Date?, hasUserStates: Bool,
    seen: SeenRecords
  ) {
    self.store = store
    self.feedID = feedID
    self.targets = targets
    self.revision = revision
    self.saved = saved
    self.hasUserStates = hasUserStates
    self.candidateAddedAt = candidateAddedAt
    state = Locked(State(seen: seen))
  }

  /// Adds pages, and waits while too many wait before them.
  ///
  /// - Throws: The error of an earlier transaction; its pages are not stored.
  func add(_ pages: Pages) async throws {
    while try isFull { await nextStep() }
    let begins = state.withLock { state in
      state.waiting.append(pages)
      defer { state.isWriting = true }
      return !state.isWriting
    }
    if begins { begin() }
  }

  /// Waits until all pages are committed.
  ///
  /// - Throws: The error of a transaction. The pages of earlier ones are committed.
  func finish() async throws {
    await end()
    if let failure = state.withLock(\.failure) { throw failure }
  }

  /// Waits until no transaction is under way.
  func end() async {
    while state.withLock(\.isWriting) { await nextStep() }
  }

  /// Returns the commits since the last call.
  func takeCommitted() -> Committed {
    state.withLock { state in
      defer {
        state.committed.number = nil
        state.committed.seen = [:]
        state.committed.report = nil
      }
      return state.committed
    }
  }

  private var isFull: Bool {
    get throws {
      try state.withLock { state in
        if let failure = state.failure { throw failure }
        return state.waiting.count >= Self.waitingMax
      }
    }
  }

  /// Waits until the current transaction has taken pages or has ended.
  private func nextStep() async {
    await withCheckedContinuation { continuation in
      let isIdle = state.withLock { state in
        if state.isWriting { state.waiters.append(continuation) }
        return !state.isWriting
      }
      if isIdle { continuation.resume() }
    }
  }

  private func begin() {
    store.write(author: "sync") { [self] transaction in
      try write(in: transaction)
    } completion: { [self] result in
      end(result)
    }
  }

  /// Writes the pages that are ready. Runs on the writer queue.
  private func write(in transaction: WriteTransaction) throws {
    try transaction.requireSchema(revision)
    var (seen, counts) = state.withLock { ($0.seen, $0.committed.counts) }
    var last: (checkpoint: SyncCheckpoint, rules: ListingRules, number: Int64)?
    repeat {
      guard let pages = take() else { break }
      last = (pages.checkpoint, pages.rules, pages.number)
      seen.insert(pages.seen)
      let writer = try PageWriter(
        feedID: feedID, rules: pages.rules, targets: targets, hasUserStates: hasUserStates,
        in: transaction)
      try writer.write(pages.changes, seen: &seen, &counts)
    } while try transaction.hasRoomForChunk()
    guard let last else { return }
    if last.rules.mode == .full {
      try seen.save(feedID: feedID, number: Int(last.number), in: transaction)
    }
    var checkpoint = last.checkpoint
    checkpoint.report = checkpoint.report.adding(counts)
    try saved.save(
      checkpoint, rows: Int64(checkpoint.report.items), chunks: last.number, in: transaction)
    if let candidateAddedAt {
      try transaction.update(Feed.self, Feed.objectID(feedID)) { feed in
        feed.restore(fromCandidate: candidateAddedAt, at: transaction.now)
      }
    }
    state.withLock { [seen, counts, report = checkpoint.report] in
      $0.next = (seen, counts, last.number, report)
    }
  }

  private func take() -> Pages? {
    let (pages, waiters) = state.withLock { state -> (Pages?, [CheckedContinuation<Void, Never>]) in
      if state.waiting.isEmpty { return (nil, []) }
      let pages = state.waiting.removeFirst()
      defer { state.waiters = [] }
      return (pages, state.waiters)
    }
    for waiter in waiters { waiter.resume() }
    return pages
  }

  /// Ends a transaction. Runs on the writer queue, after the commit.
  private func end(_ result: Result<Void, any Error>) {
    let (continues, waiters) = state.withLock { state in
      switch result {
      case .success: state.commit()
      case .failure(let error):
        state.failure = error
        state.waiting = []
      }
      state.next = nil
      state.isWriting = !state.waiting.isEmpty
      defer { state.waiters = [] }
      return (state.isWriting, state.waiters)
    }
    if continues { begin() }
    for waiter in waiters { waiter.resume() }
  }
}

extension PageCommits.State {
  fileprivate mutating func commit() {
    guard let next else { return }
    seen = next.seen
    committed.counts = next.counts
    committed.seen.merge(seen.uncommitted, uniquingKeysWith: +)
    seen.didCommit()
    committed.number = next.number
    committed.report = next.report
  }
}

extension ReadTransaction {
  /// Checks that the schema is still that of the run.
  ///
  /// - Throws: `conflict` if another process has changed it: the run must begin again, from its
  ///   checkpoint.
  func requireSchema(_ revision: UInt64) throws(StoreError) {
    if catalog.revision != revision { throw StoreError.schemaChanged() }
  }
}
