import DurableJobs
import EntityModel
import FeedSync
import Foundation
import HTTPClient
import HomeFeed
import StoreJobs
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

extension MigrationSource {
  /// The entity `Item`: small records for tests with many of them.
  static let items = MigrationSource(embedded: [
    (
      "0001_items",
      Array(
        """
        line: items
        summary: Small records
        steps:
          - createEntity:
              name: Item
              attributes:
                - { name: name, type: string }
                - { name: rank, type: int64, default: 0 }
                - { name: seenAt, type: date, optional: true }
          - createIndex: { on: Item, name: byName, keys: [name], unique: true }
        """.utf8)
    )
  ])
}

/// Runs `body` with a new store that has jobs, items and feeds.
func withStoreJobs<R>(
  isolation: isolated (any Actor)? = #isolation, _ body: (TemporaryStore) async throws -> R
) async throws -> R {
  try await withTemporaryStore(migrations: [.items, .homeFeed, .feeds, .jobs]) {
    try await body($0)
  }
}

extension TemporaryStore {
  var queue: JobQueue { JobQueue(store) }

  /// Inserts items `i0`, `i1`, …, whose rank is their number.
  func insertItems(_ count: Int) async throws {
    try await store.write { transaction in
      for number in 0..<count {
        try transaction.insert(
          "Item", ["name": .string("i\(number)"), "rank": .int64(Int64(number))])
      }
    }
  }

  func count(_ format: String) throws -> Int {
    let predicate = try FetchPredicate(format: format)
    return try store.read {
      try $0.count(FetchRequest(entityName: "Item", predicate: predicate))
    }
  }

  /// The chunked writes that are under way.
  func writesUnderWay() throws -> Int { try store.read { try $0.count(of: "_ChunkedWrite") } }

  /// Runs jobs as long as `body` takes, and then those that run to their end.
  @discardableResult
  func running<R>(
    transport: (any HTTPTransport)? = nil, compaction: StoreCompaction? = nil,
    isolation: isolated (any Actor)? = #isolation, _ body: (JobRunner) async throws -> R
  ) async throws -> R {
    let runner = runner(transport: transport, compaction: compaction)
    let run = Task { try await runner.run() }
    do {
      let result = try await body(runner)
      await runner.stop(within: .seconds(60))
      try await run.value
      return result
    } catch {
      await runner.stop(within: .zero)
      try await run.value
      throw error
    }
  }

  private func runner(
    transport: (any HTTPTransport)?, compaction: StoreCompaction? = nil
  ) -> JobRunner {
    var handlers = JobHandlers()
    let engine = transport.map { [clock] in
      SyncEngine(store: store, transport: $0, now: { clock.now })
    }
    handlers.handleStoreJobs(sync: engine, compact: compaction)
    return JobRunner(store, handlers)
  }

  /// Enqueues a job, runs it and returns what comes out.
  func value<J: Job>(of job: J) async throws -> J.Output {
    try await running { _ in try await queue.enqueue(job).value }
  }

  /// Enqueues a job that is refused, and returns why.
  func refusal(of job: some Job) async throws -> String {
    try await running { _ in
      let handle = try await queue.enqueue(job)
      let error = try await #require(throws: JobError.self) { try await handle.value }
      #expect(error.code == .failed)
      let status = try #require(try queue.status(handle.id))
      #expect(status.state == .discarded && status.attempts == 1)
      return status.error ?? ""
    }
  }

  /// Starts to run jobs and stops in the middle of one. The condition is tested after each of the
  /// job's commits, with the writer lock held; once it is true, the lock is kept until the runner
  /// has stopped.
  func interrupt(
    transport: (any HTTPTransport)? = nil, isolation: isolated (any Actor)? = #isolation,
    when isAmid: @escaping @Sendable () throws -> Bool
  ) async throws {
    let runner = runner(transport: transport)
    let run = Task { try await runner.run() }
    let isStopped = DispatchSemaphore(value: 0)
    try await withCheckedThrowingContinuation { continuation in
      look(isAmid, isStopped) { continuation.resume(with: $0) }
    }
    await runner.stop(within: .zero)
    isStopped.signal()
    try await run.value
  }

  /// A test is queued before the writes that wait for its commit or a later one. So no commit of a
  /// job that writes sequentially is missed, even on a slow machine.
  private func look(
    _ isAmid: @escaping @Sendable () throws -> Bool, _ isStopped: DispatchSemaphore,
    _ found: @escaping @Sendable (Result<Void, any Error>) -> Void
  ) {
    store.writer.submit(
      WriterQueue.Job(author: nil) { _ in
        do {
          if try isAmid() {
            found(.success(()))
            isStopped.wait()
          } else {
            try #require(try isAtWork(), "the job has ended before")
            look(isAmid, isStopped, found)
          }
        } catch {
          found(.failure(error))
        }
      } completion: { _ in
      })
  }

  /// True if more commits may come.
  private func isAtWork() throws -> Bool {
    var filter = JobFilter()
    filter.states = Set(JobState.allCases).subtracting(JobState.finished)
    return try !queue.list(filter).isEmpty
  }

  func waitForCommit(
    isolation: isolated (any Actor)? = #isolation, _ condition: () throws -> Bool
  ) async throws {
    let commits = try store.commits.observe()
    var seen = 0
    while true {
      let mayCome = try isAtWork()
      if try condition() { return }
      try #require(mayCome, "the job has ended before")
      seen = try await commits.next(after: seen)
    }
  }
}
