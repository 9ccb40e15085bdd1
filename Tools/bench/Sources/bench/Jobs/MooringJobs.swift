@_spi(Measurement) import DurableJobs
import Foundation
import Mooring
import Synchronization

/// Mooring's jobs through their public interface: tasks as producers, and one `JobRunner` as
/// worker.
final class MooringJobs: JobCandidate {
  let name = CandidateName.mooring
  /// The concurrency in place of a batch of 1: the default of a runner. A runner writes the ended
  /// jobs and claims the next ones in one commit, so it does not claim and finish one job at a
  /// time.
  static let usualConcurrency = RunnerOptions().concurrency

  private let store = Mutex<Store?>(nil)

  func open(in folder: URL) async throws {
    let opened = try Store.openForJobs(in: folder)
    store.withLock { $0 = opened }
  }

  func close() async throws { store.withLock { $0 = nil } }

  func enqueue(_ jobs: Int, perCommit: Int, by producers: Producers) async throws {
    let queue = JobQueue(try opened())
    let left = Countdown(jobs)
    switch producers {
    case .thread:
      try await onThreads(1) {
        while let count = left.take(perCommit) { try Self.enqueue(count, in: queue) }
      }
    case .tasks(let count):
      try await withThrowingTaskGroup(of: Void.self) { group in
        for _ in 0..<count {
          group.addTask {
            while left.take(1) != nil { try await queue.enqueue(BenchJob.sample) }
          }
        }
        try await group.waitForAll()
      }
    }
  }

  private static func enqueue(_ count: Int, in queue: JobQueue) throws {
    // The payload is in bytes, as that of the other queues.
    let payload = Data(jobPayload.utf8)
    let requests = (0..<count).map { _ in
      JobRequest(kind: BenchJob.kind, payload: payload, policy: BenchJob.policy)
    }
    _ = try queue.store.writeBlocking(author: "jobs") { try $0.enqueue(requests) }
  }

  /// Enqueues Swift values, which are encoded as JSON, by one producer.
  func enqueueValues(_ jobs: Int, perCommit: Int) async throws {
    let store = try opened()
    let left = Countdown(jobs)
    while let count = left.take(perCommit) {
      let requests = try (0..<count).map { _ in try JobRequest(BenchJob.sample) }
      try await store.write { _ = try $0.enqueue(requests) }
    }
  }

  func enqueueOne() async throws -> (
    called: ContinuousClock.Instant, returned: ContinuousClock.Instant
  ) {
    let queue = JobQueue(try opened())
    let called = ContinuousClock.now
    try await queue.enqueue(BenchJob.sample)
    return (called, ContinuousClock.now)
  }

  func drain(_ jobs: Int, batch: Int) async throws -> JobDrain {
    let turns = JobTurns(try opened())
    var drain = JobDrain()
    var left = jobs
    while left > 0 {
      let start = ContinuousClock.now
      let claimed = try turns.claim(min(batch, left), of: [BenchJob.kind])
      let middle = ContinuousClock.now
      guard !claimed.isEmpty else {
        throw BenchError(.mismatch, "\(left) jobs that were enqueued are not ready")
      }
      guard try turns.finish(claimed) == claimed.count else {
        throw BenchError(.mismatch, "a job was finished by another claim")
      }
      drain.claiming += (middle - start).seconds
      drain.finishing += (ContinuousClock.now - middle).seconds
      left -= claimed.count
    }
    return drain
  }

  func run(_ jobs: Int, batch: Int, started: @escaping @Sendable () -> Void) async throws {
    var handlers = JobHandlers()
    handlers.handle(BenchJob.self) { _, _ in
      started()
      return NoOutput()
    }
    var options = RunnerOptions()
    options.concurrency = batch == 1 ? Self.usualConcurrency : batch
    let left = Countdown(jobs)
    let (ends, allEnded) = AsyncStream.makeStream(of: Void.self)
    options.onEnd = { _ in
      _ = left.take(1)
      if left.isAtZero { allEnded.finish() }
    }
    let runner = JobRunner(try opened(), handlers, options: options)
    async let running: Void = {
      // Without this the loop below would wait forever for a runner that failed.
      defer { allEnded.finish() }
      try await runner.run()
    }()
    for await _ in ends {}
    await runner.stop(within: .seconds(10))
    try await running
  }

  func finished() async throws -> Int {
    try opened().read { transaction in
      try transaction.count(
        FetchRequest(
          entityName: "_Job",
          predicate: .comparison("state", .equal, .string(JobState.succeeded.rawValue))))
    }
  }

  private func opened() throws -> Store {
    guard let store = store.withLock({ $0 }) else {
      throw BenchError(.candidate, "\(name): used before it was opened")
    }
    return store
  }
}

extension Store {
  /// Opens or creates a store for jobs.
  ///
  /// - Parameter flushesCommits: False to fill a store quickly.
  static func openForJobs(in folder: URL, flushesCommits: Bool = true) throws -> Store {
    var options = Store.Options()
    options.mapSize = 32 << 30
    options.flushesCommits = flushesCommits
    return try Store.open(
      at: folder.path, migrations: [.jobs], migrate: .ifEmpty, options: options)
  }
}

/// The job of the benchmark. Its JSON is `jobPayload`.
struct BenchJob: Job {
  static let kind: JobKind = "bench"
  static let sample = BenchJob(
    episode: "ep:431902", url: "https://cdn.example.org/e/0123456789ab.mp4")

  let episode: String
  let url: String
}

/// A number that several tasks count down to zero.
private final class Countdown: Sendable {
  private let left: Mutex<Int>

  init(_ count: Int) { left = Mutex(count) }

  var isAtZero: Bool { left.withLock { $0 == 0 } }

  /// Subtracts up to `count`.
  ///
  /// - Returns: The number that was subtracted; nil at zero.
  func take(_ count: Int) -> Int? {
    left.withLock { left in
      let taken = min(count, left)
      left -= taken
      return taken > 0 ? taken : nil
    }
  }
}
