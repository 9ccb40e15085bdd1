import EntityStore
import LMDB
import TestSupport
import Testing

@testable import StoreHub

/// A machine that applies what others commit.
@Suite struct HubFollowerTests {
  @Test func aFollowerSeesWhatOthersWrite() async throws {
    try await withHub { hub in
      try await hub.create()
      let (first, second) = (try hub.open("first"), try hub.join("second"))
      let follower = try HubFollower(second, of: hub.address("second"))
      defer { follower.stop() }
      let observation = try second.commits.observe()
      let seen = try second.read { $0.transaction.id }
      async let next = observation.next(after: seen)
      try await insert("new", into: first)
      #expect(try await next > seen)
      #expect(try names(of: second) == ["from the beginning", "new"])
    }
  }

  @Test func whatIsCommittedWhileALargeEntryIsAppliedComesWithIt() async throws {
    try await withHub { hub in
      try await hub.create()
      let (first, second) = (try hub.open("first"), try hub.join("second"))
      let log = HubCommitLog(try hub.address("second"))
      func sizes(whenWriting count: Int) async throws -> [Int] {
        try await insert(String(repeating: "x", count: count), into: first)
        let tail = try log.tail(after: #require(try second.logPosition))
        var sizes = [try #require(try tail.nextPart()).bytes.count]
        // A part is applied before the next one is asked for.
        try await insert("after \(count)", into: first)
        while let part = try tail.nextPart() { sizes.append(part.bytes.count) }
        try requireEqual(first, second)
        return sizes
      }
      let large = try await sizes(whenWriting: 400_000)
      try #require(large.count == 2)
      #expect(large[0] > 400_000)
      #expect(large[1] < 10_000)
      // After a small entry the question costs more than the next look.
      #expect(try await sizes(whenWriting: 400).count == 1)
    }
  }
}
