import EntityStore
import Foundation
import TestSupport
import Testing

@testable import DurableJobs

/// Jobs that wait again: their unique keys and groups. Every step is one transaction, as of a
/// runner with the epoch 1.
@Suite(.timeLimit(.minutes(10))) struct WaitingAgainTests {
  // MARK: Unique until started

  @Test(arguments: [Outcome.failed("broken", wait: .seconds(60)), .handedBack])
  func aRetriedJobKeepsItsUniqueKey(outcome: Outcome) async throws {
    try await withTemporaryJobs { temporary in
      let queue = JobQueue(temporary.store)
      let first = try await queue.enqueue(Self.untilStarted)
      let claim = try await temporary.store.claimAll()[0]
      #expect(try queue.status(first.id)?.uniqueKey == nil)
      try await temporary.store.finish(claim, outcome)
      #expect(try queue.status(first.id)?.uniqueKey == "kind:key")
      #expect(
        try await queue.enqueue(Self.untilStarted) == EnqueuedJob(id: first.id, isNew: false))
      // And it gives it up again.
      temporary.clock.advance(by: 60)
      try await temporary.store.finish(try await temporary.store.claimAll()[0], .succeeded(nil))
      #expect(try await queue.enqueue(Self.untilStarted).isNew)
    }
  }

  @Test func aUniqueKeyHeldByAnotherJobIsRegainedWhenItIsFree() async throws {
    try await withTemporaryJobs { temporary in
      let (store, queue) = (temporary.store, JobQueue(temporary.store))
      let first = try await queue.enqueue(Self.untilStarted)
      let claim = try await store.claimAll()[0]
      let second = try await queue.enqueue(Self.untilStarted)
      #expect(second.isNew)
      try await store.finish(claim, .failed("broken", wait: .zero))
      #expect(try queue.status(first.id)?.state == .ready)
      #expect(try queue.status(first.id)?.uniqueKey == nil)
      #expect(try queue.status(second.id)?.uniqueKey == "kind:key")
      // Both run, both fail: the first to come back has the key.
      let claims = try await store.claimAll()
      for claim in claims { try await store.finish(claim, .failed("broken", wait: .zero)) }
      let keys = try claims.map { try queue.status($0.job)?.uniqueKey }
      #expect(claims.count == 2 && keys == ["kind:key", nil])
      for claim in try await store.claimAll() { try await store.finish(claim, .succeeded(nil)) }
    }
  }

  private static let untilStarted = {
    var request = JobRequest(kind: "kind", payload: Data("{}".utf8))
    request.uniqueKey = "key"
    request.uniqueness = .untilStarted
    return request
  }()

  // MARK: Completion jobs

  @Test func aRetriedCompletionJobWaitsForItsGroupAgain() async throws {
    try await withTemporaryJobs { temporary in
      let (store, queue) = (temporary.store, JobQueue(temporary.store))
      let completion = JobRequest(kind: "last", payload: Data("{}".utf8))
      let member = JobRequest(kind: "kind", payload: Data("{}".utf8))
      try await store.write { _ = try $0.enqueue(group: [member], then: completion) }
      let last = try #require(try queue.list().first { $0.kind == "last" }).id
      try await queue.cancel(last)
      #expect(try await queue.retry(last) == .blocked)
      let claims = try await store.claimAll()
      #expect(claims.count == 1 && claims[0].job != last)
      try await store.finish(claims[0], .discarded("broken"))
      #expect(try queue.status(last)?.state == .ready)
      // It no longer waits.
      try await queue.cancel(last)
      #expect(try await queue.retry(last) == .ready)
    }
  }
}

extension Store {
  /// Claims all that is ready.
  fileprivate func claimAll() async throws -> [Claim] {
    let terms = ClaimTerms(epoch: 1, count: 10, kinds: ["kind", "last"])
    return try await write { transaction in
      try JobExchange.run([], [], terms, in: transaction).claimed.compactMap(\.claim)
    }
  }

  fileprivate func finish(_ claim: Claim, _ outcome: Outcome) async throws {
    let none = ClaimTerms(epoch: 1, count: 0, kinds: [])
    let exchange = try await write { transaction in
      try JobExchange.run([(claim, outcome)], [], none, in: transaction)
    }
    #expect(exchange.results != [.lostClaim])
  }
}
