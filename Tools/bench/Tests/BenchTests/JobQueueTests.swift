import Foundation
import Synchronization
import Testing

@testable import bench

@Suite("The queues that durable jobs are compared with")
struct JobQueueTests {
  @Test("raw C claims each job once, with several workers")
  func rawClaimsOnce() async throws { try await claimsOnce(RawJobQueue.self) }

  @Test("SQLite claims each job once, with several workers")
  func sqliteClaimsOnce() async throws { try await claimsOnce(SQLiteJobQueue.self) }

  @Test("raw C counts a job as finished once")
  func rawFinishesOnce() async throws { try await finishesOnce(RawJobQueue.self) }

  @Test("SQLite counts a job as finished once")
  func sqliteFinishesOnce() async throws { try await finishesOnce(SQLiteJobQueue.self) }

  @Test("raw C finds its jobs again")
  func rawFindsJobsAgain() async throws { try await findsJobsAgain(RawJobQueue.self) }

  @Test("SQLite finds its jobs again")
  func sqliteFindsJobsAgain() async throws { try await findsJobsAgain(SQLiteJobQueue.self) }

  @Test("A worker beside many producers ends with the last of their jobs")
  func runsBesideProducers() async throws {
    for candidate in CandidateName.queues.compactMap({ $0.makeQueue() }) {
      try await withFolder { folder in
        try await candidate.open(in: folder)
        let starts = Mutex(0)
        async let worker: Void = candidate.run(600, batch: 7) { starts.withLock { $0 += 1 } }
        try await candidate.enqueue(600, perCommit: 1, by: .tasks(8))
        try await worker
        #expect(try await candidate.finished() == 600)
        #expect(starts.withLock { $0 } == 600)

        try await candidate.enqueue(250, perCommit: 100, by: .thread)
        _ = try await candidate.drain(250, batch: 64)
        #expect(try await candidate.finished() == 850)
        await #expect(throws: BenchError.self) { try await candidate.drain(1, batch: 1) }
        try await candidate.close()
      }
    }
  }
}

/// Several producers and workers at once, until all jobs are finished.
private func claimsOnce<Queue: BlockingJobQueue>(_ type: Queue.Type) async throws {
  let jobs = 1200
  try await withQueue(type) { queue in
    let seen = Mutex(Set<Queue.Claim>())
    let finished = Mutex(0)
    async let producers: Void = onThreads(4) {
      for count in [1, 99, 200] { try queue.enqueue(count) }
    }
    async let workers: Void = onThreads(4) {
      while finished.withLock({ $0 }) < jobs {
        let claims = try queue.claim(17)
        #expect(claims.count <= 17)
        for claim in claims {
          #expect(seen.withLock { $0.insert(claim).inserted }, "claimed twice: \(claim)")
        }
        let count = try queue.finish(claims)
        #expect(count == claims.count)
        finished.withLock { $0 += count }
      }
    }
    try await producers
    try await workers
    #expect(seen.withLock { $0.count } == jobs)
    #expect(try counts(queue) == [0, 0, jobs])
  }
}

private func finishesOnce<Queue: BlockingJobQueue>(_ type: Queue.Type) async throws {
  try await withQueue(type) { queue in
    #expect(try queue.claim(5).isEmpty)
    try queue.enqueue(300)
    #expect(try counts(queue) == [300, 0, 0])
    let claims = try queue.claim(200)
    #expect(claims.count == 200)
    #expect(try counts(queue) == [100, 200, 0])

    #expect(try queue.finish(Array(claims[..<150])) == 150)
    #expect(try queue.finish(claims) == 50)
    #expect(try queue.finish(claims) == 0)
    #expect(try queue.finish(claims + claims) == 0)
    #expect(try counts(queue) == [100, 0, 200])

    let last = try queue.claim(200)
    #expect(Set(last).isDisjoint(with: claims))
    #expect(try queue.finish(last + last) == 100)
    #expect(try counts(queue) == [0, 0, 300])
  }
}

private func findsJobsAgain<Queue: BlockingJobQueue>(_ type: Queue.Type) async throws {
  try await withFolder { folder in
    let queue = try type.init(in: folder)
    try queue.enqueue(30)
    let claims = try queue.claim(20)
    #expect(try queue.finish(Array(claims[..<10])) == 10)
    queue.close()

    let again = try type.init(in: folder)
    defer { again.close() }
    #expect(try counts(again) == [10, 10, 10])
    try again.enqueue(5)
    #expect(try again.claim(100).count == 15)
    #expect(try again.finish(claims) == 10)
    #expect(try counts(again) == [0, 15, 20])
  }
}

private func counts(_ queue: some BlockingJobQueue) throws -> [Int] {
  try BlockingJobState.allCases.map { try queue.count($0) }
}

private func withQueue<Queue: BlockingJobQueue>(
  _ type: Queue.Type, _ body: (Queue) async throws -> Void
) async throws {
  try await withFolder { folder in
    let queue = try type.init(in: folder)
    defer { queue.close() }
    try await body(queue)
  }
}
