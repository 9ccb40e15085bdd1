import EntityModel
import Foundation
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore

/// The time limit of a snapshot in a fetch on the store's own threads.
@Suite struct AsynchronousSnapshotTests {
  private static let request = FetchRequest(entityName: "Wide", sortBy: [SortKey("a")])

  @Test func aFetchThatOutlivesItsSnapshotThrowsAndReturnsNoPartialResult() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let ids = try await store.fillWide(1_500)
      func options() -> AsynchronousFetchOptions {
        let time = Locked(ContinuousClock.Instant.now)
        var options = AsynchronousFetchOptions(snapshotLimit: .seconds(5))
        // Two seconds go by between two looks.
        options.now = {
          time.withLock { time in
            time = time.advanced(by: .seconds(2))
            return time
          }
        }
        return options
      }
      let nothing = FetchRequest(
        entityName: "Wide", predicate: .comparison("b", .equal, "nothing"), sortBy: [SortKey("a")])
      var groups = Self.request
      groups.sortBy = []
      groups.propertiesToGroupBy = ["b"]
      for request in [Self.request, nothing] {
        let fetch = store.fetchAsynchronously(request, options: options())
        #expect(await code { try await fetch.value } == .snapshotExpired)
        #expect(fetch.progress.completed < 1_500)
        let counted = await code {
          _ = try await store.readAsynchronously(options: options()) { try $0.fetch(request) }
        }
        #expect(counted == .snapshotExpired)
      }
      #expect(
        await code {
          try await store.fetchRowsAsynchronously(groups, options: options()).value
        } == .snapshotExpired)
      #expect(
        await code {
          try await store.readAsynchronously(options: options()) { try $0.count(nothing) }
        } == .snapshotExpired)
      #expect(try await !store.pinsPages(changing: ids[0]))
    }
  }

  @Test func batchesOutliveTheSnapshotLimit() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let ids = try await store.fillWide(900)
      SlowRow.time.withLock { $0 = .now }
      var options = AsynchronousFetchOptions(snapshotLimit: .seconds(5), batchSize: 300)
      options.now = { SlowRow.time.withLock { $0 } }
      // Nine seconds for all, three for a batch.
      let whole = try store.fetchAsynchronously(FetchDescriptor<SlowRow>(), options: options)
      #expect(await code { try await whole.value } == .snapshotExpired)
      var rows = 0
      for try await batch in try store.fetchBatchesAsynchronously(
        FetchDescriptor<SlowRow>(), options: options)
      {
        rows += batch.values.count
        #expect(try await !store.pinsPages(changing: ids[0]))
      }
      #expect(rows == 900)
    }
  }

  @Test func noSnapshotOutlivesItsFetch() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let ids = try await store.fillWide(600)
      let done = store.fetchAsynchronously(Self.request)
      _ = try await done.value
      #expect(try await !store.pinsPages(changing: ids[0]))
      let gate = Gate()
      let held = AsynchronousFetch(store, .init()) { transaction, _ in
        gate.pass()
        return try transaction.fetch(Self.request).count
      }
      await gate.waitForArrival()
      #expect(try await store.pinsPages(changing: ids[0]))
      held.cancel()
      gate.open()
      await #expect(throws: CancellationError.self) { try await held.value }
      #expect(try await !store.pinsPages(changing: ids[0]))
    }
  }
}

/// A row whose reading advances a separate clock by ten milliseconds. For one test only.
private struct SlowRow: Entity {
  static let time = Locked(ContinuousClock.Instant.now)
  static var entityName: String { "Wide" }
  static let attributes: [EntityAttribute<SlowRow>] = [.init("a", \.a)]
  var a: String

  init(from record: inout RecordReader) throws {
    a = try record["a"]
    SlowRow.time.withLock { $0 = $0.advanced(by: .milliseconds(10)) }
  }
}
