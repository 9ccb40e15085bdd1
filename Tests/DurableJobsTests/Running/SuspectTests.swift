import EntityStore
import TestSupport
import Testing

@testable import DurableJobs

/// Jobs with which runners have died.
@Suite(.timeLimit(.minutes(10))) struct SuspectTests {
  private let kinds: Set = [Numbered.kind]

  @Test func afterOneDeathAllJobsRunAgainAtOnce() async throws {
    try await withTemporaryJobs { temporary in
      for number in 1...9 { try await JobQueue(temporary.store).enqueue(Numbered(number)) }
      try await die(temporary)
      #expect(try await claim(9, in: temporary.store).count == 9)
    }
  }

  @Test func aRunnerRunsSuspectJobsOneAtATimeAfterTwoDeaths() async throws {
    try await withTemporaryJobs { temporary in
      let store = temporary.store
      for number in 1...3 { try await JobQueue(store).enqueue(Numbered(number)) }
      for _ in 1...2 { try await die(temporary) }
      let fresh = try await JobQueue(store).enqueue(Numbered(4))
      // One of the three, and the one with which nobody has died, though it came last.
      #expect(try await claim(9, in: store) == [JobID(rawValue: 1), fresh.id])
      #expect(try await claim(9, in: store, admitsSuspect: false).isEmpty)
    }
  }

  @Test func allSuspectJobsRunEventually() async throws {
    try await withTemporaryJobs { temporary in
      let (store, queue) = (temporary.store, JobQueue(temporary.store))
      for number in 1...20 { try await queue.enqueue(Numbered(number)) }
      for _ in 1...2 { try await die(temporary) }
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { _, _ in }
      try await withRunner(store, handlers) { _ in
        for number in 1...20 {
          _ = try await queue.handle(JobID(rawValue: Int64(number)), as: Numbered.self).value
        }
      }
    }
  }

  /// A runner claims what there is and dies, and its jobs' time to wait passes.
  private func die(_ temporary: TemporaryStore) async throws {
    let store = temporary.store
    let dead = try await RunnerLease.take(in: store, command: "dead", kinds: kinds).epoch
    let terms = ClaimTerms(epoch: dead, count: 100, kinds: kinds)
    let claimed = try await store.write {
      try JobExchange.run([], [], terms, in: $0).claimed.count
    }
    #expect(try await JobRescue.run(dead, in: store) == claimed)
    temporary.clock.advance(by: 60)
  }

  private func claim(
    _ count: Int, in store: Store, admitsSuspect: Bool = true
  ) async throws -> [JobID] {
    let lease = try await RunnerLease.take(in: store, command: "alive", kinds: kinds)
    var terms = ClaimTerms(epoch: lease.epoch, count: count, kinds: kinds)
    terms.admitsSuspect = admitsSuspect
    return try await store.write { [terms] in
      try JobExchange.run([], [], terms, in: $0).claimed.map(\.id)
    }
  }
}
