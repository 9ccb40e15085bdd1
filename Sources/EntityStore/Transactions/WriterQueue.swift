import Dispatch
import Foundation
import LMDB
import SystemSupport

/// The one writer of this process: a serial Dispatch queue with group commit.
///
/// Closures that wait while a commit is under way share the next one, each in a nested
/// transaction, so that one that throws does not harm the others. Their callers hear of success
/// only after the durable commit, and all of them of a commit that fails. Observers are told before
/// the callers, so that a process that ends with its write has told them.
package final class WriterQueue: Sendable {
  /// One closure that waits for its turn.
  struct Job: Sendable {
    let author: String?
    let body: @Sendable (WriteTransaction) throws -> Void
    /// Called once, on the writer queue, after the commit.
    let completion: @Sendable (Result<Void, any Error>) -> Void
  }

  private let environment: Environment
  private let catalogTree: Tree
  private let catalogs: CatalogCache
  private let signal: CommitSignal
  private let now: @Sendable () -> Date
  /// Refuses to write under a schema that this program does not fit.
  private let check: @Sendable (Catalog) throws -> Void
  /// One per environment, so that two stores opened on one folder take turns, too.
  private let queue: DispatchQueue
  private let waiting = Locked<[Job]>([])
  private let riders = Locked<(next: Int, all: [Int: CommitRider])>((0, [:]))
  // SAFETY (of both): touched on `queue` only.
  nonisolated(unsafe) private let scratch = WriterScratch()
  nonisolated(unsafe) private var lastGroupCount = 1

  init(
    environment: Environment, catalogTree: Tree, catalogs: CatalogCache,
    signal: CommitSignal, now: @escaping @Sendable () -> Date,
    check: @escaping @Sendable (Catalog) throws -> Void
  ) {
    self.environment = environment
    queue = environment.writerQueue
    self.catalogTree = catalogTree
    self.catalogs = catalogs
    self.signal = signal
    self.now = now
    self.check = check
  }

  func submit(_ job: Job) {
    let isFirst = waiting.withLock { jobs in
      jobs.append(job)
      return jobs.count == 1
    }
    // One drain is scheduled for as long as jobs wait.
    if isFirst { queue.async { self.drain() } }
  }

  /// Runs a closure that changes the schema, alone, in a transaction of its own.
  ///
  /// Blocks the calling thread until the commit. Nothing shares the commit, because what ran
  /// after it would still see the schema from before.
  func runAlone<R>(_ body: (TreeWriter, WriterScratch) throws -> R) throws -> R {
    try queue.sync {
      defer { scratch.forgetSchema() }
      let result = try translatingStorageErrors { try environment.write { try body($0, scratch) } }
      signal.ring()
      return result
    }
  }

  /// - Returns: Removes it.
  func add(_ rider: CommitRider) -> @Sendable () -> Void {
    let number = riders.withLock { riders in
      riders.next += 1
      riders.all[riders.next] = rider
      return riders.next
    }
    return { [riders] in riders.withLock { $0.all[number] = nil } }
  }

  private func drain() {
    gather()
    let group = waiting.withLock { Array($0.prefix(Limits.writesPerCommitMax)) }
    lastGroupCount = group.count
    let outcome = commit(group)
    let more = waiting.withLock { jobs in
      jobs.removeFirst(group.count)
      return !jobs.isEmpty
    }
    if more { queue.async { self.drain() } }
    for (job, result) in zip(group, outcome) { job.completion(result) }
  }

  /// Waits a moment for those whose writes have shared the last commit: most have another one at once,
  /// and the first of them to come would otherwise have a flush for itself. Who writes alone does not
  /// wait.
  private func gather() {
    var count = waiting.withLock { $0.count }
    for _ in 0..<Limits.gatheringPausesMax where count < lastGroupCount {
      usleep(Limits.gatheringPause)
      let more = waiting.withLock { $0.count }
      if more == count { return }
      count = more
    }
  }

  /// Runs the closures in one transaction and commits it.
  private func commit(_ group: [Job]) -> [Result<Void, any Error>] {
    var rides: [Ridden] = []
    do {
      while true {
        if let results = try attempt(group, &rides) {
          for ride in rides { ride.completion(ride.result) }
          return results
        }
        try catalogs.refresh()
      }
    } catch {
      for ride in rides { ride.completion(.failure(error)) }
      return group.map { _ in .failure(error) }
    }
  }

  private typealias Ridden = (
    completion: @Sendable (Result<Void, any Error>) -> Void, result: Result<Void, any Error>
  )

  /// - Returns: `nil` if another process has changed the schema: nothing was run.
  private func attempt(
    _ group: [Job], _ rides: inout [Ridden]
  ) throws -> [Result<Void, any Error>]? {
    var results: [Result<Void, any Error>]?
    try translatingStorageErrors {
      try environment.write { transaction in
        guard let catalog = try catalogs.catalog(for: transaction) else { return }
        if scratch.checkedRevision != catalog.revision {
          try check(catalog)
          scratch.checkedRevision = catalog.revision
        }
        let riders = riders.withLock { Array($0.all.values) }
        var awaited: [CommitRider] = []
        func run(_ job: Job, in transaction: TreeWriter) throws {
          let scope = try self.run(job, in: transaction, catalog: catalog)
          for rider in riders where scope.hasChanged(entityNamed: rider.entity) {
            awaited.append(rider)
          }
        }
        if group.count == 1 {
          // Alone, its error may abort the whole transaction: no nesting is needed.
          try run(group[0], in: transaction)
          results = [.success(())]
        } else {
          results = group.map { job in
            Result {
              try translatingStorageErrors { try transaction.nested { try run(job, in: $0) } }
            }
          }
        }
        for ride in awaited.compactMap({ $0.board() }) {
          let job = Job(author: nil, body: ride.body, completion: ride.completion)
          let result = Result {
            try translatingStorageErrors {
              try transaction.nested { _ = try self.run(job, in: $0, catalog: catalog) }
            }
          }
          rides.append((ride.completion, result))
        }
      }
    }
    if results != nil { signal.ring() }
    return results
  }

  private func run(
    _ job: Job, in transaction: TreeWriter, catalog: Catalog
  ) throws -> WriteTransaction {
    let scope = WriteTransaction(
      transaction, catalog: catalog, catalogTree: catalogTree, scratch: scratch,
      author: job.author, now: now())
    try job.body(scope)
    try scope.finish()
    return scope
  }
}

/// LMDB's errors leave this module only inside a `StoreError`.
package func translatingStorageErrors<R>(_ body: () throws -> R) throws -> R {
  do {
    return try body()
  } catch let error as StorageError {
    if error.code == .storeMissing {
      throw StoreError(
        .storeMissing, "there is no store here", error.context.filter { $0.0 == "path" },
        advice: "make one with `mooring migrate up` or `mooring sync URL`, or name another folder "
          + "with --store")
    }
    throw StoreError(error)
  }
}
