import EntityModel
import EntityStore
import Foundation
import HTTPClient
import HomeFeed
import Migrations
import SystemSupport
import TestSupport
import Testing

@testable import FeedSync

/// Feeds of two machines, of which the second does not have the commits of the first when a run
/// begins: notifications may be late.
@Suite struct SharedFeedTests {
  private static let url = "https://feeds.example/home"

  @Test func aRunKnowsTheWaitThatAnotherMachineHasStored() async throws {
    try await withTwoMachines { first, second, transport in
      let id = try Feeds(first).find(Self.url).id
      let until = first.now().addingTimeInterval(3_600)
      try await first.write {
        try $0.update(Feed.self, Feed.objectID(id)) { $0.waitUntil = until }
      }
      let error = try await #require(throws: SyncError.self) {
        try await SyncEngine(store: second, transport: transport).sync(id)
      }
      #expect(error.code == .waiting)
      #expect(transport.takeRequests().isEmpty)
    }
  }

  @Test func aRunKnowsTheWaitThatAnotherMachineHasStoredWhileItWaitedForItsTurn() async throws {
    try await withTwoMachines { first, second, transport in
      let id = try Feeds(first).find(Self.url).id
      let turns = Locked(0)
      var engine = SyncEngine(store: second, transport: transport)
      engine.sleep = { _ in
        turns.withLock { $0 += 1 }
        try await first.write {
          try Hosts.record(
            "feeds.example", waitUntil: $0.now.addingTimeInterval(3_600), now: $0.now, in: $0)
        }
      }
      _ = engine.pace.reserve(
        "feeds.example", spacing: .seconds(2), others: [], now: second.now())
      let waiting = engine
      let error = try await #require(throws: SyncError.self) { try await waiting.sync(id) }
      #expect(error.code == .waiting)
      #expect(turns.withLock { $0 } == 1)
      #expect(transport.takeRequests().isEmpty)
    }
  }

  private func withTwoMachines(
    _ body: (_ first: Store, _ second: Store, ScriptedTransport) async throws -> Void
  ) async throws {
    try await withTemporaryFolder { folder in
      let log = MemoryCommitLog()
      func open(_ name: String) throws -> Store {
        try openStore(at: folder.path(name), migrations: [.homeFeed, .feeds], log: log)
      }
      let first = try open("first")
      try await Feeds(first).add(Self.url)
      let second = try open("second")
      let transport = ScriptedTransport()
      transport.script(Self.url, .status(500))
      try await body(first, second, transport)
      for store in [first, second] {
        try store.catchUp()
        try requireClean(store)
      }
    }
  }
}
