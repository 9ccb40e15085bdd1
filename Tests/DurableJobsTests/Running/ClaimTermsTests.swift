import Testing

@testable import DurableJobs

@Suite struct ClaimTermsTests {
  @Test func aLateEndFreesASlotOnlyInItsQueue() {
    var terms = ClaimTerms(epoch: 1, count: 0, kinds: [], queueRoom: ["a": 0, "b": 0])
    terms.makeRoom(in: "a")
    #expect(terms.count == 1)
    #expect(terms.hasRoom(in: "a"))
    #expect(!terms.hasRoom(in: "b"))
    #expect(terms.hasRoom(in: "c"), "a queue without a limit of its own")
  }

  /// The concurrency may be lowered while they run.
  @Test func aboveTheLimitTheEndOfOneAttemptFreesNoSlot() {
    var terms = ClaimTerms(epoch: 1, count: -1, kinds: [], queueRoom: ["a": -1])
    terms.makeRoom(in: "a")
    #expect(terms.count == 0)
    #expect(!terms.hasRoom(in: "a"))
  }
}
