import EntityModel
import EntityStore
import Foundation
import PostgreSQLTestSupport
import TestSupport
import Testing

@testable import DurableJobs
@testable import StoreHub

/// Machines whose clocks are a day apart.
@Suite(
  .enabled(if: PostgreSQLServer.canRun, "\(PostgreSQLServer.skipReason)"), .timeLimit(.minutes(5)))
struct HubClockTests {
  private static let day = 86_400.0

  @Test func machinesGoByTheClockOfTheServer() async throws {
    try await withHub { hub in
      try await hub.create()
      _ = try hub.join("second")
      let slow = try hub.open("first") { $0.now = { Date() - Self.day } }
      let fast = try hub.open("second") { $0.now = { Date() + Self.day } }
      var times: [Date] = []
      for store in [fast, slow, fast, slow] {
        times.append(
          try await store.write { transaction in
            _ = try transaction.insert("Sample", ["name": .string(UUID().uuidString)])
            return transaction.now
          })
      }
      #expect(times == times.sorted())
      #expect(times.allSatisfy { abs($0.timeIntervalSinceNow) < Self.day / 4 })
      try requireSame([fast, slow])

      // A job of the one is due on the other.
      let job = try await JobQueue(fast).enqueue(
        JobRequest(kind: "copy", payload: Data("{}".utf8)))
      let claimed = try await slow.write { transaction in
        try JobTable(transaction).claim(ClaimTerms(epoch: 1, count: 10, kinds: ["copy"])).map(\.id)
      }
      #expect(claimed == [job.id])
      try requireSame([fast, slow])
    }
  }

  @Test func aClockThatIsSetBackDoesNotSetTimeBack() async throws {
    try await withHub { hub in
      try await hub.create()
      let clock = ManualClock()
      let store = try hub.open("first") { $0.now = { clock.now } }
      let before = try await store.write { transaction in
        _ = try transaction.insert("Sample", ["name": "before"])
        return transaction.now
      }
      clock.advance(by: -Self.day)
      let after = try await store.write { transaction in
        _ = try transaction.insert("Sample", ["name": "after"])
        return transaction.now
      }
      #expect(after >= before)
    }
  }
}
