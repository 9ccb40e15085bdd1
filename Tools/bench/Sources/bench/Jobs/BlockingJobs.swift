import Dispatch
import Foundation
import Synchronization

/// A queue that is implemented with a C library. Its methods block and may be called from any
/// thread. Each call that changes the queue is one durable commit.
protocol BlockingJobQueue: Sendable {
  associatedtype Claim: Sendable, Hashable

  /// Opens or creates the queue in an existing folder.
  init(in folder: URL) throws
  /// Closes the queue. No other call may follow.
  func close()

  /// Enqueues jobs that are ready.
  func enqueue(_ count: Int) throws
  /// Claims jobs that are ready.
  ///
  /// - Returns: At most `limit` claims; none if no job is ready.
  func claim(_ limit: Int) throws -> [Claim]
  /// Finishes claimed jobs.
  ///
  /// - Returns: The number of jobs that still ran under these claims.
  func finish(_ claims: [Claim]) throws -> Int
  /// Returns the number of jobs in a state.
  func count(_ state: BlockingJobState) throws -> Int
}

/// The state of a job in a `BlockingJobQueue`.
enum BlockingJobState: CaseIterable { case ready, running, finished }

/// Runs a `BlockingJobQueue` with threads as producers and one thread as worker. An enqueue wakes
/// the worker.
final class BlockingJobs<Queue: BlockingJobQueue>: JobCandidate {
  let name: CandidateName
  private let queue = Mutex<Queue?>(nil)
  private let news = EnqueueCount()

  init(_ name: CandidateName) { self.name = name }

  func open(in folder: URL) async throws {
    let opened = try Queue(in: folder)
    queue.withLock { $0 = opened }
  }

  func close() async throws {
    queue.withLock {
      $0?.close()
      $0 = nil
    }
  }

  func enqueue(_ jobs: Int, perCommit: Int, by producers: Producers) async throws {
    let queue = try opened()
    let left = Mutex(jobs)
    let news = news
    try await onThreads(producers.count) {
      while true {
        let count = left.withLock { left in
          let count = min(perCommit, left)
          left -= count
          return count
        }
        guard count > 0 else { return }
        try queue.enqueue(count)
        news.add()
      }
    }
  }

  func enqueueOne() async throws -> (
    called: ContinuousClock.Instant, returned: ContinuousClock.Instant
  ) {
    let queue = try opened()
    let news = news
    let now = ContinuousClock.now
    let times = Mutex((called: now, returned: now))
    try await onThreads(1) {
      let called = ContinuousClock.now
      try queue.enqueue(1)
      times.withLock { $0 = (called, ContinuousClock.now) }
      news.add()
    }
    return times.withLock { $0 }
  }

  func drain(_ jobs: Int, batch: Int) async throws -> JobDrain {
    let queue = try opened()
    let total = Mutex(JobDrain())
    try await onThreads(1) {
      var drain = JobDrain()
      var left = jobs
      while left > 0 {
        let start = ContinuousClock.now
        let claims = try queue.claim(min(batch, left))
        let claimed = ContinuousClock.now
        try Self.finish(claims, in: queue)
        drain.claiming += (claimed - start).seconds
        drain.finishing += (ContinuousClock.now - claimed).seconds
        guard !claims.isEmpty else {
          throw BenchError(.mismatch, "\(left) jobs that were enqueued are not ready")
        }
        left -= claims.count
      }
      total.withLock { $0 = drain }
    }
    return total.withLock { $0 }
  }

  func run(_ jobs: Int, batch: Int, started: @escaping @Sendable () -> Void) async throws {
    let queue = try opened()
    let news = news
    try await onThreads(1) {
      var left = jobs
      while left > 0 {
        let known = news.value
        let claims = try queue.claim(min(batch, left))
        if claims.isEmpty {
          news.wait(after: known)
          continue
        }
        for _ in claims { started() }
        try Self.finish(claims, in: queue)
        left -= claims.count
      }
    }
  }

  func finished() async throws -> Int { try opened().count(.finished) }

  private static func finish(_ claims: [Queue.Claim], in queue: Queue) throws {
    guard try queue.finish(claims) == claims.count else {
      throw BenchError(.mismatch, "a job was finished by another claim")
    }
  }

  private func opened() throws -> Queue {
    guard let queue = queue.withLock({ $0 }) else {
      throw BenchError(.candidate, "\(name): used before it was opened")
    }
    return queue
  }
}

/// A counter of enqueues. A worker waits for the next one.
private final class EnqueueCount: Sendable {
  // SAFETY: it is read and written only while `changed` is locked.
  nonisolated(unsafe) private var count = 0
  private let changed = NSCondition()

  var value: Int { changed.withLock { count } }

  func add() {
    changed.withLock {
      count += 1
      changed.signal()
    }
  }

  func wait(after known: Int) {
    changed.withLock {
      while count == known { changed.wait() }
    }
  }
}

/// Runs `body` on new threads, which may block, and waits until all have ended.
///
/// - Throws: The first error that was thrown.
func onThreads(_ count: Int, _ body: @escaping @Sendable () throws -> Void) async throws {
  let failure = Mutex<(any Error)?>(nil)
  let group = DispatchGroup()
  for _ in 0..<count {
    group.enter()
    Thread {
      do { try body() } catch { failure.withLock { $0 = $0 ?? error } }
      group.leave()
    }.start()
  }
  await withCheckedContinuation { continuation in
    group.notify(queue: .global()) { continuation.resume() }
  }
  if let error = failure.withLock({ $0 }) { throw error }
}
