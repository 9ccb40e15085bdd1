import Dispatch
import Foundation
import Glibc
import LMDB
import SystemSupport

/// The only writer of this process: a serial Dispatch queue with group commit.
///
/// Closures that wait during a commit share the next one, each in a nested transaction, so that one
/// that throws does not affect the others. Closures that wait while long work runs share its
/// commit. Consecutive repeatable closures share a nested transaction, too. A caller gets its
/// result only after the durable commit; if the commit fails, all callers get the error. Observers
/// are notified before the callers, so that a process that exits after its write has notified them.
package final class WriterQueue: Sendable {
  /// One closure that waits for its turn.
  struct Job: Sendable {
    let author: String?
    /// True if the closure may be run again after a transaction that it shared was aborted.
    var isRepeatable = false
    let body: @Sendable (WriteTransaction) throws -> Void
    /// Called once, on the writer queue, after the commit.
    let completion: @Sendable (Result<Void, any Error>) -> Void
  }

  private let environment: Environment
  private let catalogTree: Tree
  private let catalogs: CatalogCache
  private let signal: CommitSignal
  private let now: @Sendable () -> Date
  private let commitDuration: Duration
  /// Throws if this program does not fit the schema.
  private let check: @Sendable (Catalog) throws -> Void
  /// One queue per environment, so that two stores opened on one folder take turns, too.
  private let queue: DispatchQueue
  private let waiting = Locked<[Job]>([])
  private let hooks = Locked<(next: Int, all: [Int: any CommitHook])>((0, [:]))
  // SAFETY (all three properties): accessed on `queue` only.
  nonisolated(unsafe) private let scratch = WriterScratch()
  nonisolated(unsafe) private var lastGroupCount = 1
  nonisolated(unsafe) private var lastEnd = ContinuousClock.now

  init(
    environment: Environment, catalogTree: Tree, catalogs: CatalogCache,
    signal: CommitSignal, now: @escaping @Sendable () -> Date, commitDuration: Duration,
    check: @escaping @Sendable (Catalog) throws -> Void
  ) {
    self.environment = environment
    queue = environment.writerQueue
    self.catalogTree = catalogTree
    self.catalogs = catalogs
    self.signal = signal
    self.now = now
    self.commitDuration = commitDuration
    self.check = check
  }

  func submit(_ job: Job) { if add(job) { scheduleDrain() } }

  /// Submits a job whose caller blocks until its end.
  ///
  /// If no other write waits, the calling thread commits the job, and those that come until then:
  /// handing it to the thread of the queue and back takes as long as a tenth of a small commit.
  func submitBlocking(_ job: Job) {
    if add(job) { queue.sync { drain().complete() } }
  }

  /// Adds a job to those that wait.
  ///
  /// - Returns: True if the caller must schedule a drain, of which there is one for as long as jobs
  ///   wait.
  private func add(_ job: Job) -> Bool {
    waiting.withLock { jobs in
      // Under the lock, so that the next group contains each write that is counted.
      environment.countWrites(1)
      jobs.append(job)
      return jobs.count == 1
    }
  }

  /// Runs a closure that changes the schema in a transaction and commit of its own.
  ///
  /// Blocks the calling thread until the commit. No other closure shares the commit, because it
  /// would still see the earlier schema.
  func runAlone<R>(_ body: (TreeWriter, WriterScratch) throws -> R) throws -> R {
    environment.countWrites(1)
    defer { environment.countWrites(-1) }
    return try queue.sync {
      defer { scratch.forgetSchema() }
      let result = try translatingStorageErrors { try environment.write { try body($0, scratch) } }
      signal.notify()
      return result
    }
  }

  /// Applies the entries of the commit log that the store lacks. Blocks the calling thread.
  func catchUp() throws {
    let isNews = try queue.sync {
      try translatingStorageErrors { try environment.catchUp() }
    }
    if isNews { signal.notify() }
  }

  /// Makes the store independent of its commit log. Blocks the calling thread.
  func endLog(_ body: (TreeWriter) throws -> Void) throws {
    try queue.sync {
      defer { scratch.forgetSchema() }
      try translatingStorageErrors { try environment.endLog(body) }
    }
    signal.notify()
  }

  /// Adds a commit hook.
  ///
  /// - Returns: A closure that removes the hook.
  func add(_ hook: some CommitHook) -> @Sendable () -> Void {
    let number = hooks.withLock { hooks in
      hooks.next += 1
      hooks.all[hooks.next] = hook
      return hooks.next
    }
    return { [hooks] in hooks.withLock { $0.all[number] = nil } }
  }

  /// Returns the budget of a transaction that begins now.
  ///
  /// - Parameter jobs: The number of writes that share it. Of several each waits for the others.
  func budget(sharedBy jobs: Int) -> CommitBudget {
    let duration =
      environment.options.commitLog == nil
      ? commitDuration : min(commitDuration, StoreLimits.turnDuration)
    return CommitBudget(duration: duration) { [environment] in
      jobs > 1 || environment.writesWaiting > jobs || environment.anotherProcessWaits
    }
  }

  private func scheduleDrain() {
    let turn = Turn(self)
    queue.async {
      // The callers continue when nothing here keeps the environment open any more: a caller that
      // releases its store can then open it otherwise, or replace its file.
      let drained = turn.drain()
      drained.complete()
      if let waiting = drained.expecting { Self.expect(waiting) }
    }
  }

  /// Keeps the thread of the queue for a moment, so that the next write of a caller that writes one
  /// after another need not wake it: that takes as long as a tenth of a small commit.
  private static func expect(_ waiting: Locked<[Job]>) {
    let end = ContinuousClock.now + StoreLimits.expectation
    while waiting.withLock({ $0.isEmpty }), ContinuousClock.now < end { sched_yield() }
  }

  /// Holds the writer until the end of one drain, which a block on the queue would hold longer.
  private final class Turn: Sendable {
    // SAFETY: set once, and taken on the queue.
    nonisolated(unsafe) private var writer: WriterQueue?

    init(_ writer: WriterQueue) { self.writer = writer }

    /// Not inlined, so that the writer is released when it returns.
    @inline(never)
    func drain() -> Drained { writer.take()?.drain() ?? Drained() }
  }

  private struct Drained {
    var completions: [@Sendable (Result<Void, any Error>) -> Void] = []
    var outcome: [Result<Void, any Error>] = []
    /// The waiting jobs, if the caller is expected to add one at once.
    var expecting: Locked<[Job]>?

    func complete() {
      for (completion, result) in zip(completions, outcome) { completion(result) }
    }
  }

  private func drain() -> Drained {
    let followsAtOnce = ContinuousClock.now - lastEnd < StoreLimits.expectation * 2
    gather()
    var group = waiting.withLock { Self.nextGroup($0[...]) }
    lastGroupCount = group.count
    let outcome = commit(&group)
    environment.countWrites(-group.count)
    let more = waiting.withLock { jobs in
      jobs.removeFirst(group.count)
      return !jobs.isEmpty
    }
    if more { scheduleDrain() }
    lastEnd = .now
    return Drained(
      completions: group.map(\.completion), outcome: outcome,
      expecting: followsAtOnce && group.count == 1 && !more ? waiting : nil)
  }

  /// Returns the first waiting jobs, as many as may share a commit.
  private static func nextGroup(_ waiting: ArraySlice<Job>) -> [Job] {
    var room = StoreLimits.writesPerCommitMax * StoreLimits.repeatableWritesPerWrite
    return Array(
      waiting.prefix { job in
        room -= job.isRepeatable ? 1 : StoreLimits.repeatableWritesPerWrite
        return room >= 0
      })
  }

  /// Waits a moment for the callers whose writes shared the last commit: most of them write again
  /// at once, and the first of these writes would otherwise need a flush for itself. A single
  /// writer does not wait.
  private func gather() {
    var count = waiting.withLock { $0.count }
    for _ in 0..<StoreLimits.gatheringPausesMax where count < lastGroupCount {
      usleep(StoreLimits.gatheringPause)
      let more = waiting.withLock { $0.count }
      if more == count { return }
      count = more
    }
  }

  /// Runs the closures in one transaction and commits it.
  ///
  /// - Parameter group: The closures; those that shared the commit of long work are added.
  /// - Returns: The results of the closures.
  private func commit(_ group: inout [Job]) -> [Result<Void, any Error>] {
    var called: [HookCall] = []
    do {
      while true {
        if let results = try attempt(&group, &called) {
          for call in called { call.hook.publish(call.result) }
          return results
        }
        try catalogs.refresh()
      }
    } catch {
      for call in called { call.hook.publish(.failure(error)) }
      return group.map { _ in .failure(error) }
    }
  }

  private typealias HookCall = (hook: any CommitHook, result: Result<Void, any Error>)

  /// Runs the closures in one transaction.
  ///
  /// - Returns: `nil` if another process has changed the schema; no closure was run then.
  private func attempt(
    _ group: inout [Job], _ called: inout [HookCall]
  ) throws -> [Result<Void, any Error>]? {
    var results: [Result<Void, any Error>]?
    var hasChunks = false
    try translatingStorageErrors {
      try environment.write { transaction in
        guard let catalog = try catalogs.catalog(for: transaction) else { return }
        if scratch.checkedRevision != catalog.revision {
          try check(catalog)
          scratch.checkedRevision = catalog.revision
        }
        let hooks = hooks.withLock { $0.all }
        var touched: Set<Int> = []
        let budget = budget(sharedBy: group.count)
        func run(_ jobs: ArraySlice<Job>, in transaction: TreeWriter) throws {
          let scope = try write(
            in: transaction, catalog: catalog, author: jobs.first?.author, budget
          ) { scope in for job in jobs { try job.body(scope) } }
          for (number, hook) in hooks where scope.hasChanged(entityNamed: hook.entity) {
            touched.insert(number)
          }
          hasChunks = hasChunks || scope.hasChunks
        }
        func runNested(_ jobs: ArraySlice<Job>) -> Result<Void, any Error> {
          Result {
            try translatingStorageErrors { try transaction.nested { try run(jobs, in: $0) } }
          }
        }
        func runAllNested(_ jobs: [Job]) -> [Result<Void, any Error>] {
          Self.byTransaction(jobs).flatMap { jobs -> [Result<Void, any Error>] in
            if jobs.count > 1, case .success = runNested(jobs) {
              return jobs.map { _ in .success(()) }
            }
            return jobs.indices.map { runNested(jobs[$0...$0]) }
          }
        }
        var outcome: [Result<Void, any Error>]
        if group.count == 1 {
          // An error of a single closure may abort the whole transaction, so no nesting is needed.
          try run(group[...], in: transaction)
          outcome = [.success(())]
        } else {
          outcome = runAllNested(group)
        }
        if hasChunks {
          // Long work has ended its transaction for those who wait: they need no further flush.
          let late = waiting.withLock { Self.nextGroup($0[group.count...]) }
          outcome += runAllNested(late)
          group += late
        }
        results = outcome
        for hook in touched.sorted().compactMap({ hooks[$0] }) where hook.begin() {
          let result = Result {
            try translatingStorageErrors {
              try transaction.nested {
                _ = try write(in: $0, catalog: catalog, author: nil, budget, hook.write)
              }
            }
          }
          called.append((hook, result))
        }
      }
    }
    if results != nil { signal.notify() }
    return results
  }

  /// Divides the jobs, in order, into those that share a nested transaction.
  private static func byTransaction(_ group: [Job]) -> [ArraySlice<Job>] {
    var parts: [ArraySlice<Job>] = []
    for (position, job) in group.enumerated() {
      if job.isRepeatable, let last = parts.last?.last, last.isRepeatable, last.author == job.author
      {
        let start = parts.removeLast().startIndex
        parts.append(group[start...position])
      } else {
        parts.append(group[position...position])
      }
    }
    return parts
  }

  private func write(
    in transaction: TreeWriter, catalog: Catalog, author: String?, _ budget: CommitBudget,
    _ body: (WriteTransaction) throws -> Void
  ) throws -> WriteTransaction {
    let scope = WriteTransaction(
      transaction, catalog: catalog, catalogTree: catalogTree, scratch: scratch, author: author,
      now: now(), budget: budget)
    try body(scope)
    try scope.finish()
    scope.recycleChanges()
    return scope
  }
}

/// A hook that adds writes to the commits of other writers.
///
/// When a commit is about to change records of an entity, the hook may write in the same
/// transaction: its writes become durable with the same flush, and visible together with the
/// change. It cannot make the commit fail, because it writes in a nested transaction.
///
/// All calls come from the store's writer queue, in the order in which they are declared here.
package protocol CommitHook: Sendable {
  /// The name of the entity whose changes call the hook.
  var entity: String { get }

  /// Begins the participation in a commit.
  ///
  /// - Returns: `false` to skip this commit: no other call follows for it.
  func begin() -> Bool

  func write(in transaction: WriteTransaction) throws

  /// Called once after the commit, or with the error of `write` or of the whole commit.
  func publish(_ result: Result<Void, any Error>)
}
