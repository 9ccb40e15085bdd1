import EntityStore
import TestSupport
import Testing

@testable import DurableJobs

/// The claims of an idle runner within the commits of its process.
@Suite struct ClaimOfferTests {
  @Test func aJobIsClaimedByTheCommitThatEnqueuesIt() async throws {
    try await withOffer { store, offer, terms in
      offer.open(terms)
      let job = try await JobQueue(store).enqueue(Numbered(1))
      #expect(try JobQueue(store).status(job.id)?.state == .running)
      guard case .claimed(let claimed) = offer.withdraw() else {
        Issue.record("no commit has taken the offer")
        return
      }
      #expect(claimed.map(\.id) == [job.id])
      // An offer is taken once: the runner claims the next job.
      let next = try await JobQueue(store).enqueue(Numbered(2))
      #expect(try JobQueue(store).status(next.id)?.state == .ready)
    }
  }

  @Test func aWithdrawnOfferIsNotTaken() async throws {
    try await withOffer { store, offer, terms in
      offer.open(terms)
      guard case .withdrawn = offer.withdraw() else {
        Issue.record("no commit has changed jobs")
        return
      }
      let job = try await JobQueue(store).enqueue(Numbered())
      #expect(try JobQueue(store).status(job.id)?.state == .ready)
    }
  }

  @Test func nothingIsClaimedForAKindThatTheRunnerDoesNotKnow() async throws {
    try await withOffer { store, offer, terms in
      offer.open(terms)
      let job = try await JobQueue(store).enqueue(Other())
      #expect(try JobQueue(store).status(job.id)?.state == .ready)
      guard case .claimed(let claimed) = offer.withdraw() else {
        Issue.record("the commit has changed jobs")
        return
      }
      #expect(claimed.isEmpty)
    }
  }

  @Test func anEnqueueThatFailsLeavesTheOfferOpen() async throws {
    struct Refused: Error {}
    try await withOffer { store, offer, terms in
      offer.open(terms)
      await #expect(throws: Refused.self) {
        try await store.write { transaction in
          try transaction.enqueue(Numbered())
          throw Refused()
        }
      }
      let job = try await JobQueue(store).enqueue(Numbered())
      #expect(try JobQueue(store).status(job.id)?.state == .running)
    }
  }

  private func withOffer(
    _ body: (Store, ClaimOffer, ClaimTerms) async throws -> Void
  ) async throws {
    try await withTemporaryJobs { temporary in
      let store = temporary.store
      let lease = try await RunnerLease.take(in: store, command: "test", kinds: [Numbered.kind])
      let offer = ClaimOffer {}
      let end = store.add(offer)
      defer { end() }
      try await body(
        store, offer, ClaimTerms(epoch: lease.epoch, count: 4, kinds: [Numbered.kind]))
    }
  }
}
