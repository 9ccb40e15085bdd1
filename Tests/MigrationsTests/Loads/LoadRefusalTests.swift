import EntityModel
import EntityObjects
import Maintenance
import TestSupport
import Testing

@testable import EntityStore
@testable import Migrations

/// Loads that fail before they have inserted anything leave the indexes in place.
@Suite(.timeLimit(.minutes(10))) struct LoadRefusalTests {
  @Test func aLoadWhoseFirstItemIsRefusedPutsTheIndexesBack() async throws {
    try await withGoods { store in
      let before = try store.schema
      var items = (0..<LoadPlan.rows).map(LoadPlan.values)
      items[0]["unknown"] = 1
      let wrong = items
      let error = await #expect(throws: BatchItemError.self) {
        try await store.load(LoadPlan.request(wrong), building: LoadPlan.options)
      }
      #expect(error?.item == 1)
      #expect(try store.deferredIndexes().isEmpty)
      #expect(try store.schema == before)
      try MigrationBench.requireNoLeftovers(store)
      try await LoadPlan.run(on: store)
      try MigrationBench.requireNoLeftovers(store)
    }
  }

  @Test func aLoadThatIsRefusedBeforeItsFirstItemChangesNothing() async throws {
    struct Unreadable: Error {}
    try await withGoods { store in
      let revision = try store.catalog().revision
      func load(_ request: BatchInsertRequest) async throws {
        _ = try await store.load(request, building: LoadPlan.options)
      }
      let items = (0..<10).map(LoadPlan.values)
      let update = BatchInsertRequest("Item", items, onConflict: .update(by: ["size"]))
      #expect(await code { try await load(update) } == .invalidRequest)
      #expect(await code { try await load(BatchInsertRequest("Items", items)) } == .unknownEntity)
      let source = AsyncThrowingStream<[String: Value], any Error> {
        $0.finish(throwing: Unreadable())
      }
      await #expect(throws: Unreadable.self) {
        try await load(BatchInsertRequest("Item", source))
      }
      try await load(BatchInsertRequest("Item", [[String: Value]]()))
      #expect(try store.catalog().revision == revision)
      try requireClean(store)
    }
  }

  @Test func aLoadOfOtherItemsLeavesTheIndexesOfAnInterruptedOne() async throws {
    try await withGoods { store in
      try await interruptWhileInserting(store)
      try store.buildDeferredIndexes()
      let revision = try store.catalog().revision
      let others = LoadPlan.request((0..<LoadPlan.rows).map { LoadPlan.values($0 + 1_000) })
      #expect(await code { try await store.load(others) } == .invalidRequest)
      #expect(try store.catalog().revision == revision)
      #expect(try store.deferredIndexes().isEmpty)
      try requireClean(store)
    }
  }
}
