import EntityStore
import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import DurableJobs

/// The statistics compared with counts of the test.
@Suite(.timeLimit(.minutes(10)))
struct JobStatisticsTests {
  private func request(
    _ kind: JobKind, queue: QueueName = .default, priority: Int = 0, runAt: Date? = nil
  ) -> JobRequest {
    var request = JobRequest(kind: kind, payload: Data("{}".utf8))
    request.queue = queue
    request.priority = priority
    request.runAt = runAt
    return request
  }

  private func claim(
    _ count: Int, _ kinds: Set<JobKind>, _ epoch: Int64, in store: Store
  ) async throws -> [Claim] {
    try await store.write { transaction in
      try JobTable(transaction).claim(ClaimTerms(epoch: epoch, count: count, kinds: kinds))
        .compactMap(\.claim)
    }
  }

  private func finish(_ claim: Claim, _ outcome: Outcome, in store: Store) async throws {
    try await store.write { transaction in
      let table = try JobTable(transaction)
      _ = try table.finish(claim, outcome)
      try table.addAggregates()
    }
  }

  @Test func statisticsMatchTheHistory() async throws {
    try await withTemporaryJobs { temporary in
      let (store, clock) = (temporary.store, temporary.clock)
      let queue = JobQueue(store)
      let lease = try await RunnerLease.take(in: store, command: "test", kinds: ["test.a"])
      // The clock stands at second 20 of a minute.
      let start = clock.now
      #expect(Int(start.timeIntervalSince1970) % 60 == 20)
      for _ in 1...2 { try await queue.enqueue(request("test.a")) }
      try await queue.enqueue(request("test.b", queue: "slow"))
      clock.advance(by: 10)
      let claims = try await claim(2, ["test.a"], lease.epoch, in: store)
      #expect(claims.count == 2)
      // Second 0 of the next minute.
      clock.advance(by: 30)
      try await finish(claims[0], .succeeded(nil), in: store)
      try await finish(claims[1], .failed("no", wait: .seconds(900)), in: store)
      clock.advance(by: 20)
      try await queue.enqueue(request("test.a", runAt: clock.now.addingTimeInterval(1_000)))
      try await queue.enqueue(request("test.a", priority: 5))
      clock.advance(by: 5)
      try await queue.enqueue(request("test.a", priority: 9))
      try await queue.pause("slow")

      let statistics = try queue.statistics(over: .seconds(60))
      #expect(statistics.since == start.addingTimeInterval(-20))
      #expect(statistics.lanes.map(\.kind) == ["test.a", "test.b"])
      let a = try #require(statistics.lanes.first)
      #expect(a.ready == 2 && a.scheduled == 2)
      #expect(a.running == 0 && a.held == 0 && a.blocked == 0)
      #expect(a.oldestReadyAt == start.addingTimeInterval(60))
      #expect(a.isServed && !a.isPaused)
      #expect(a.ended.succeeded == 1 && a.ended.retried == 1 && a.ended.failed == 0)
      // From second 20 - 20 to second 25 of the next minute.
      #expect(abs(a.ended.succeededPerMinute - 60.0 / 85) < 1e-9)
      #expect(abs(a.ended.retriedPerMinute - 60.0 / 85) < 1e-9 && a.ended.failedPerMinute == 0)
      let (wait, run) = (try #require(a.ended.wait), try #require(a.ended.run))
      #expect(wait.count == 2 && abs(wait.p50Seconds - 10) <= 2 && abs(wait.p99Seconds - 10) <= 2)
      #expect(run.count == 2 && abs(run.p50Seconds - 30) <= 6 && abs(run.p99Seconds - 30) <= 6)
      let b = try #require(statistics.lanes.last)
      #expect(b.ready == 1 && b.isPaused && !b.isServed && b.ended.wait == nil)
      #expect(b.oldestReadyAt == start)
      #expect(statistics.ended == a.ended)
      #expect(
        statistics.finished == ["succeeded": 1, "discarded": 0, "cancelled": 0, "poisoned": 0])
      #expect(statistics.runners.map(\.isAlive) == [true])
    }
  }

  @Test func aDeadRunnerServesNoKind() async throws {
    try await withTemporaryJobs { temporary in
      let (store, queue) = (temporary.store, JobQueue(temporary.store))
      try await queue.enqueue(request("test.a"))
      var lease: RunnerLease? = try await RunnerLease.take(
        in: store, command: "test", kinds: ["test.a"])
      #expect(try queue.statistics().lanes.map(\.isServed) == [true])
      // Its lock goes with it, its record stays.
      lease = nil
      // The thread that returned the lease may hold it for another moment.
      let locks = try FileLock(store.folder + "/jobs.lock")
      #expect(try locks.take(.bytes(from: 0, count: 0), until: .now + .seconds(60)))
      locks.release(.bytes(from: 0, count: 0))
      #expect(try queue.statistics().lanes.map(\.isServed) == [false])
      #expect(try queue.statistics().runners.map(\.isAlive) == [false])
      #expect(lease == nil)
    }
  }

  @Test func jobsThatEndedBeforeTheWindowAreExcluded() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let job = try await queue.enqueue(request("test.a"))
      try await queue.cancel(job.id)
      temporary.clock.advance(by: 600)
      #expect(try queue.statistics(over: .seconds(60)).lanes.isEmpty)
      let hour = try queue.statistics()
      #expect(hour.lanes.map(\.ended.failed) == [1] && hour.ended.wait == nil)
      #expect(hour.lanes.allSatisfy { !$0.hasUnfinished })
      // The window begins in the minute in which it ended.
      #expect(try queue.statistics(over: .seconds(600)).ended.failed == 1)
      #expect(try queue.statistics(over: .seconds(540)).ended.failed == 0)
    }
  }

  @Test func anEmptyWindowHasRates() async throws {
    try await withTemporaryJobs { temporary in
      // To the first second of a minute.
      temporary.clock.advance(by: 40)
      let queue = JobQueue(temporary.store)
      try await queue.cancel(try await queue.enqueue(request("test.a")).id)
      let ended = try queue.statistics(over: .zero).ended
      #expect(ended.failed == 1 && ended.failedPerMinute == 1 && ended.succeededPerMinute == 0)
    }
  }

  /// Those of the slow one in a hundred show in the 99th percentile and not in the median.
  @Test func aPercentileIsExactWithinAFifth() async throws {
    try await withTemporaryJobs { temporary in
      let (store, clock) = (temporary.store, temporary.clock)
      for _ in 1...50 { try await JobQueue(store).enqueue(request("test.a")) }
      let lease = try await RunnerLease.take(in: store, command: "test", kinds: ["test.a"])
      let claims = try await claim(50, ["test.a"], lease.epoch, in: store)
      clock.advance(by: 2)
      for claim in claims.dropLast() { try await finish(claim, .succeeded(nil), in: store) }
      clock.advance(by: 98)
      try await finish(try #require(claims.last), .discarded("slow"), in: store)
      let ended = try JobQueue(store).statistics().ended
      #expect(ended.succeeded == 49 && ended.failed == 1)
      let run = try #require(ended.run)
      #expect(abs(run.p50Seconds - 2) <= 0.4 && abs(run.p99Seconds - 100) <= 20)
    }
  }

  @Test func heldAndBlockedJobsAreCountedInTheirLanes() async throws {
    try await withTemporaryJobs { temporary in
      let store = temporary.store
      try await store.write { transaction in
        for _ in 1...3 {
          var limited = request("test.a")
          limited.limit = JobLimit("key")
          try transaction.enqueue(limited)
        }
        try transaction.enqueue(group: [request("test.b")], then: request("test.c"))
      }
      let lease = try await RunnerLease.take(in: store, command: "test", kinds: ["test.a"])
      #expect(try await claim(3, ["test.a"], lease.epoch, in: store).count == 1)
      let lanes = try JobQueue(store).statistics().lanes
      #expect(lanes.map(\.kind) == ["test.a", "test.b", "test.c"])
      #expect(lanes.map(\.running) == [1, 0, 0] && lanes.map(\.held) == [2, 0, 0])
      #expect(lanes.map(\.ready) == [0, 1, 0] && lanes.map(\.blocked) == [0, 0, 1])
      let details = try #require(try JobQueue(store).details(of: JobID(rawValue: 1)))
      #expect(details.runner?.epoch == lease.epoch && details.isKindServed)
    }
  }
}
