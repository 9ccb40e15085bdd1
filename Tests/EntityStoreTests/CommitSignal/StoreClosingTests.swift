import Dispatch
import EntityModel
import TestSupport
import Testing

@testable import EntityStore
@testable import Maintenance
@testable import Migrations

/// Uses of a store that is closed. The environment stays open: each test has another store on the
/// folder.
@Suite(.timeLimit(.minutes(10))) struct StoreClosingTests {
  @Test func closingEndsTheObservationsOfThisStoreOnly() async throws {
    try await withObservedStore { other, ticker in
      let store = try openStore(at: other.folder, migrate: .never)
      let seen = try store.newestCommit()
      let observation = try store.commits.observe()
      let waiting = (0..<50).map { _ in Task { try await observation.next(after: seen) } }
      let otherObservation = try other.commits.observe()
      async let otherNext = otherObservation.next(after: seen)
      try await other.waiters(51)
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<8 { group.addTask { store.close() } }
      }
      for task in waiting { #expect(await code { try await task.value } == .closed) }
      #expect(await code { try await observation.next(after: 0) } == .closed)
      #expect(other.commits.signal.waitersCount == 1)
      try await other.commitOnce()
      #expect(try await otherNext == seen + 1)
      #expect(ticker.running == 1)
    }
  }

  @Test func closingTheOnlyObservedStoreRemovesTheWakeSocket() async throws {
    try await withObservedStore { other, ticker in
      let store = try openStore(at: other.folder, migrate: .never)
      let observation = try store.commits.observe()
      #expect(ticker.running == 1)
      store.close()
      #expect(ticker.running == 0 && other.observerSockets() == nil)
      withExtendedLifetime(observation) {}
    }
  }

  @Test func aClosedStoreRefusesEverything() async throws {
    try await withObservedStore { other, _ in
      let store = try openStore(at: other.folder, migrate: .never)
      let request = FetchRequest(entityName: "Wide")
      let lazily = try store.fetchBatches(request)
      store.close()
      store.close()
      #expect(code { try store.read { _ in } } == .closed)
      #expect(code { try store.fetch(request) } == .closed)
      #expect(code { try store.schema } == .closed)
      #expect(code { try store.migrate() } == .closed)
      #expect(code { try store.checkIntegrity() } == .closed)
      #expect(code { try store.commits.observe() } == .closed)
      #expect(await code { try await store.write { _ in } } == .closed)
      #expect(await code { try await store.fetchAsynchronously(request).value } == .closed)
      #expect(lazily.count == 0)
      try await other.commitOnce()
      #expect(try other.fetch(request).count == 1)
    }
  }

  @Test func workUnderWayFinishes() async throws {
    try await withObservedStore { other, _ in
      let store = try openStore(at: other.folder, migrate: .never)
      let began = DispatchSemaphore(value: 0)
      let closed = DispatchSemaphore(value: 0)
      async let first: Void = store.write { transaction in
        began.signal()
        closed.wait()
        _ = try transaction.insert("Wide", ["a": "under way"])
      }
      await withCheckedContinuation { continuation in
        DispatchQueue(label: "test").async {
          began.wait()
          continuation.resume()
        }
      }
      let count = try store.read { transaction in
        store.close()
        closed.signal()
        return try transaction.count(of: "Wide")
      }
      #expect(count == 0)
      try await first
      #expect(try other.read { try $0.count(of: "Wide") } == 1)
      #expect(await code { try await store.commitOnce() } == .closed)
    }
  }
}
