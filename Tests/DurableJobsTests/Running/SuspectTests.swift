import EntityStore
import TestSupport
import Testing

@testable import DurableJobs

/// Jobs that a runner has died with.
@Suite struct SuspectTests {
  @Test func aRunnerTakesOneJobAtATimeThatARunnerHasDiedWith() async throws {
    try await withTemporaryJobs { temporary in
      let store = temporary.store
      let kinds: Set = [Numbered.kind]
      for number in 1...3 { try await JobQueue(store).enqueue(Numbered(number)) }
      let dead = try await RunnerLease.take(in: store, command: "dead", kinds: kinds).epoch
      try await store.write { transaction in
        let table = try JobTable(transaction)
        let claimed = try table.claim(ClaimTerms(epoch: dead, count: 3, kinds: kinds))
        #expect(claimed.count == 3)
      }
      #expect(try await JobRescue.run(dead, in: store) == 3)
      let fresh = try await JobQueue(store).enqueue(Numbered(4))
      let lease = try await RunnerLease.take(in: store, command: "alive", kinds: kinds)
      let taken = try await store.write { transaction in
        let table = try JobTable(transaction)
        return try table.claim(ClaimTerms(epoch: lease.epoch, count: 9, kinds: kinds)).map(\.id)
      }
      // One of the three, and the one that nobody has died with, though it came last.
      #expect(taken == [JobID(rawValue: 1), fresh.id])
      let more = try await store.write { transaction in
        var terms = ClaimTerms(epoch: lease.epoch, count: 9, kinds: kinds)
        terms.admitsSuspect = false
        return try JobTable(transaction).claim(terms).count
      }
      #expect(more == 0)
    }
  }

  @Test func allOfThemAreRunInTheEnd() async throws {
    try await withTemporaryJobs { temporary in
      let store = temporary.store
      let queue = JobQueue(store)
      for number in 1...20 { try await queue.enqueue(Numbered(number)) }
      let dead = try await RunnerLease.take(in: store, command: "dead", kinds: [Numbered.kind])
        .epoch
      try await store.write { transaction in
        _ = try JobTable(transaction)
          .claim(ClaimTerms(epoch: dead, count: 20, kinds: [Numbered.kind]))
      }
      var handlers = JobHandlers()
      handlers.react(to: Numbered.self) { _, _ in }
      try await withRunner(store, handlers) { _ in
        for number in 1...20 {
          _ = try await queue.handle(JobID(rawValue: Int64(number)), as: Numbered.self).value
        }
      }
    }
  }
}
