import EntityStore
import Foundation
import TestSupport
import Testing

@testable import DurableJobs

/// The clock is set back by three days, after times were stored that are to come soon.
@Suite(.timeLimit(.minutes(10))) struct ClockStepTests {
  private static let step = -3 * 86_400.0
  private static let request = JobRequest(kind: "kind", payload: Data("{}".utf8))

  @Test(arguments: [
    Outcome.failed("broken", wait: .seconds(60)), .snoozed(.seconds(60), nil),
  ])
  func aJobWaitsAsLongAsItWasTo(outcome: Outcome) async throws {
    try await withTemporaryJobs { temporary in
      let (store, queue) = (temporary.store, JobQueue(temporary.store))
      let id = try await queue.enqueue(Self.request).id
      let none = ClaimTerms(epoch: 1, count: 0, kinds: [])
      for claim in try await store.claim() {
        _ = try await store.write { try JobExchange.run([(claim, outcome)], [], none, in: $0) }
      }
      temporary.clock.advance(by: Self.step)
      let corrected = temporary.clock.now.addingTimeInterval(60)
      // A second correction must not lengthen the wait.
      for seconds in [0.0, 20] {
        temporary.clock.advance(by: seconds)
        #expect(try await store.write { try JobTable($0).correctTimes() })
        #expect(try queue.status(id)?.runAt == corrected)
      }
      #expect(try await store.claim().isEmpty)
      temporary.clock.advance(by: 40)
      let claims = try await store.claim()
      #expect(claims.map(\.job) == [id])
      for claim in claims {
        _ = try await store.write {
          try JobExchange.run([(claim, .succeeded(nil))], [], none, in: $0)
        }
      }
    }
  }

  @Test func aStepDuringAnAttemptDoesNotShortenItsWait() async throws {
    try await withTemporaryJobs { temporary in
      let (store, clock) = (temporary.store, temporary.clock)
      let id = try await JobQueue(store).enqueue(Self.request).id
      let claims = try await store.claim()
      clock.advance(by: Self.step)
      let none = ClaimTerms(epoch: 1, count: 0, kinds: [])
      for claim in claims {
        _ = try await store.write {
          try JobExchange.run([(claim, .snoozed(.seconds(60), nil))], [], none, in: $0)
        }
      }
      #expect(try await store.write { try JobTable($0).correctTimes() })
      #expect(try JobQueue(store).status(id)?.runAt == clock.now.addingTimeInterval(60))
    }
  }

  @Test func theTimeOfARequestStays() async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      var request = Self.request
      request.runAt = temporary.clock.now.addingTimeInterval(100)
      let id = try await queue.enqueue(request).id
      temporary.clock.advance(by: Self.step)
      #expect(try await temporary.store.write { try JobTable($0).correctTimes() })
      #expect(try queue.status(id)?.runAt == request.runAt)
    }
  }

  @Test func moreWaitsThanOneTransactionCorrectsAreCorrected() async throws {
    try await withTemporaryJobs { temporary in
      let store = temporary.store
      let count = Limits.movesPerTransactionMax + 10
      try await store.write { for _ in 0..<count { try $0.enqueue(Self.request) } }
      let none = ClaimTerms(epoch: 1, count: 0, kinds: [])
      let claims = try await store.claim(count)
      try #require(claims.count == count)
      try await store.write { transaction in
        let ends = claims.map { ($0, Outcome?.some(.snoozed(.seconds(60), nil))) }
        _ = try JobExchange.run(ends, [], none, in: transaction)
      }
      temporary.clock.advance(by: Self.step)
      #expect(try await !store.write { try JobTable($0).correctTimes() })
      #expect(try await store.write { try JobTable($0).correctTimes() })
      temporary.clock.advance(by: 60)
      var filter = JobFilter()
      filter.states = [.scheduled]
      filter.limit = count
      let now = temporary.clock.now
      #expect(try JobQueue(store).list(filter).allSatisfy { $0.runAt <= now })
    }
  }

  @Test(arguments: [(-2 * 3_600.0, false), (step, true)])
  func aScheduleFollowsALargeStepOnly(_ step: Double, isCorrected: Bool) async throws {
    try await withTemporaryJobs { temporary in
      let (store, clock) = (temporary.store, temporary.clock)
      let recurrence = try Recurrence(CronExpression("@hourly"), in: Recurrence.zone(named: "UTC"))
      try await JobQueue(store).setSchedule(JobSchedule("hourly", recurrence, Self.request))
      let before = try JobQueue(store).scheduleStatuses().first?.nextAt
      clock.advance(by: step)
      #expect(try await store.write { try JobTable($0).correctTimes() })
      let next = try JobQueue(store).scheduleStatuses().first?.nextAt
      #expect(next == (isCorrected ? recurrence.next(after: clock.now) : before))
    }
  }

  @Test func theDelayOfAScheduledJobIsNotLonger() async throws {
    try await withTemporaryJobs { temporary in
      let (store, clock) = (temporary.store, temporary.clock)
      let recurrence = try Recurrence(
        CronExpression("@hourly"), in: Recurrence.zone(named: "UTC"), jitter: .seconds(21_600))
      try await JobQueue(store).setSchedule(JobSchedule("hourly", recurrence, Self.request))
      clock.advance(by: 3_600)
      #expect(try await store.claim().isEmpty)
      let job = try #require(try JobQueue(store).list().first)
      try #require(job.state == .scheduled)
      clock.advance(by: Self.step)
      #expect(try await store.write { try JobTable($0).correctTimes() })
      let runAt = try #require(try JobQueue(store).status(job.id)?.runAt)
      #expect((0...21_600).contains(runAt.timeIntervalSince(clock.now)))
    }
  }

  @Test func aRunnerThatWakesCorrectsAndRuns() async throws {
    struct Later: Job {
      static let kind: JobKind = "test.later"
    }
    try await withTemporaryJobs { temporary in
      let (store, clock) = (temporary.store, temporary.clock)
      var handlers = JobHandlers()
      handlers.handle(Later.self) { [start = clock.now] _, _ in
        if clock.now == start { throw JobStop.snooze(for: .seconds(60)) }
        return NoOutput()
      }
      let runner = JobRunner(store, handlers)
      async let run: Void = runner.run()
      let handle = try await JobQueue(store).enqueue(Later())
      for try await status in handle.updates where status.state == .scheduled { break }
      clock.advance(by: Self.step)
      runner.wake()
      let corrected = clock.now.addingTimeInterval(60)
      for try await status in handle.updates where status.runAt == corrected { break }
      clock.advance(by: 60)
      runner.wake()
      _ = try await handle.value
      await runner.stop(within: .seconds(10))
      try await run
    }
  }
}

extension Store {
  fileprivate func claim(_ count: Int = 10) async throws -> [Claim] {
    try await write { transaction in
      try JobExchange.run(
        [], [], ClaimTerms(epoch: 1, count: count, kinds: ["kind"]), in: transaction
      ).claimed.compactMap(\.claim)
    }
  }
}
