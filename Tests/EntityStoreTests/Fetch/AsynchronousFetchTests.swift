import Dispatch
import EntityModel
import Foundation
import LMDB
import SystemSupport
import TestSupport
import Testing

@testable import EntityStore

/// Fetches on the store's own threads: complete or an error, without blocking the caller.
@Suite struct AsynchronousFetchTests {
  private static let request = FetchRequest(entityName: "Wide", sortBy: [SortKey("a")])

  // MARK: Results

  @Test(arguments: [211, 212] as [UInt64])
  func asynchronousFetchesEqualEagerOnes(seed: UInt64) async throws {
    try await withTemporaryStore(seed: seed) { temporary in
      let store = temporary.store
      var history = try await BatchSamples.history(in: temporary)
      for round in 0..<60 {
        let request = history.random.request(history.entity, records: history.records)
        let context: Comment = "seed \(seed), round \(round)"
        let expected = try store.fetch(request)
        let fetch = store.fetchAsynchronously(request)
        try #require(try await fetch.value.map(\.values) == expected.map(\.values), context)
        let count = expected.count
        try #require(fetch.progress == FetchProgress(completed: count, total: count), context)

        let rows = try await store.fetchRowsAsynchronously(request).value
        try #require(try rows == store.read { try $0.fetchRows(request) }, context)
        let identities = try await store.fetchIdentifiersAsynchronously(request).value
        try #require(try identities == store.fetchIdentifiers(request), context)
        let counted = try await store.readAsynchronously { try $0.count(request) }
        try #require(counted == count, context)

        let options = AsynchronousFetchOptions(batchSize: history.random.number(1...9))
        var batched: [[Value]] = []
        for try await batch in store.fetchBatchesAsynchronously(request, options: options) {
          try #require(batch.values.count <= options.batchSize ?? 0 && batch.vanished == 0, context)
          batched += batch.values.map(\.values)
          try #require(
            batch.progress == FetchProgress(completed: batched.count, total: count), context)
        }
        try #require(batched == expected.map(\.values), context)
      }
    }
  }

  @Test func typedFetchesAndAggregatesRunAsynchronously() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      _ = try await store.fillWide(50)
      let descriptor = FetchDescriptor<WideRow>(sortBy: [SortDescriptor(\.a, order: .reverse)])
      let expected = try store.fetch(descriptor)
      #expect(try await store.fetchAsynchronously(descriptor).value == expected)
      let identified = try store.fetchIdentified(descriptor)
      #expect(identified.map(\.value) == expected)
      #expect(try identified.map(\.id) == store.fetchIdentifiers(descriptor))
      #expect(try await store.fetchIdentifiedAsynchronously(descriptor).value == identified)
      var batched: [WideRow] = []
      for try await batch in try store.fetchBatchesAsynchronously(descriptor) {
        batched += batch.values
      }
      #expect(batched == expected)
      var request = Self.request
      request.sortBy = []
      request.propertiesToFetch = [.maximum("a", as: "last"), .count(as: "all")]
      let rows = try await store.fetchRowsAsynchronously(request).value
      #expect(rows.map(\.values) == [[.string(BatchSamples.name(49)), 50]])
    }
  }

  @Test func whatADescriptorPrefetchesComesWithEachBatch() async throws {
    try await withTemporaryStore(migrations: [.library]) { temporary in
      let store = temporary.store
      let gone = try await store.write { transaction in
        let series = try (0..<2).map { try transaction.insert(Series(name: "s\($0)")) }
        let books = try (0..<6).map { number in
          try transaction.insert(Book(title: "t\(number)", series: ToOne(series[number % 2])))
        }
        return books[3]
      }
      var descriptor = FetchDescriptor<Book>()
      descriptor.relationshipKeyPathsForPrefetching = [\.series]
      let names = ["s0", "s1", "s0", "s1", "s0", "s1"]
      let fetched = try await store.fetchAsynchronously(descriptor).value
      #expect(fetched.map { $0.series?.value?.name } == names)
      let results = try store.fetchBatches(descriptor, batchSize: 4)
      try await store.write { _ = try $0.delete(gone) }
      #expect(
        try results.indices.map { try results[$0]?.series?.value?.name }
          == ["s0", "s1", "s0", nil, "s0", "s1"])
      var batched: [String?] = []
      let options = AsynchronousFetchOptions(batchSize: 4)
      for try await batch in try store.fetchBatchesAsynchronously(descriptor, options: options) {
        batched += batch.values.map { $0.series?.value?.name }
      }
      #expect(batched == ["s0", "s1", "s0", "s0", "s1"])
    }
  }

  @Test func theFetchThrowsTheErrorOfAnInvalidRequest() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let request = FetchRequest(entityName: "None")
      #expect(await code { try await store.fetchAsynchronously(request).value } == .unknownEntity)
      #expect(
        await code { try await store.fetchRowsAsynchronously(request).value } == .unknownEntity)
      var batches = store.fetchBatchesAsynchronously(request).makeAsyncIterator()
      #expect(await code { _ = try await batches.next() } == .unknownEntity)
      let ended = try await hasEnded(&batches)
      #expect(ended)
      var negative = store.fetchBatchesAsynchronously(Self.request, options: .init(batchSize: -1))
        .makeAsyncIterator()
      #expect(await code { _ = try await negative.next() } == .invalidRequest)
    }
  }

  // MARK: Threads

  @Test func theCallerContinuesWhileTheFetchWaitsForItsThread() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      _ = try await store.fillWide(20)
      let held = HeldThreads(of: store)
      let fetch = store.fetchAsynchronously(Self.request)
      #expect(fetch.progress == FetchProgress(completed: 0, total: nil))
      // Its snapshot has not begun.
      try await store.write { _ = try $0.insert(WideRow(a: "late")) }
      held.release()
      #expect(try await fetch.value.count == 21)
    }
  }

  @Test func manyFetchesShareFewThreads() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      _ = try await store.fillWide(20)
      let running = Locked((now: 0, most: 0))
      let fetches = (0..<60).map { number in
        AsynchronousFetch(store, .init()) { transaction, _ in
          running.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
          defer { running.withLock { $0.now -= 1 } }
          return (number, try transaction.count(of: "Wide"))
        }
      }
      for (number, fetch) in fetches.enumerated() {
        #expect(try await fetch.value == (number, 20))
      }
      #expect(running.withLock { $0.most } <= StoreLimits.fetchThreadsMax)
    }
  }

  // MARK: Progress

  @Test func progressGrowsUpToTheTotal() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      _ = try await store.fillWide(1_000)
      let held = HeldThreads(of: store)
      let fetch = store.fetchAsynchronously(Self.request)
      let updates = fetch.progressUpdates
      held.release()
      var seen: [FetchProgress] = []
      for await progress in updates { seen.append(progress) }
      #expect(seen.last == FetchProgress(completed: 1_000, total: 1_000))
      #expect(seen.map(\.completed) == seen.map(\.completed).sorted())
      #expect(seen.allSatisfy { $0.total == 1_000 || $0.completed == 0 })
      #expect(fetch.progress == seen.last)
      // After the end there is only the last.
      var late: [FetchProgress] = []
      for await progress in fetch.progressUpdates { late.append(progress) }
      #expect(late == [FetchProgress(completed: 1_000, total: 1_000)])
      #expect(try await fetch.value.count == 1_000)
    }
  }

  // MARK: Cancelling

  @Test func aFetchThatIsCancelledBeforeItBeginsNeverRuns() async throws {
    try await withTemporaryStore { temporary in
      let held = HeldThreads(of: temporary.store)
      let runs = Locked(0)
      let fetch = AsynchronousFetch(temporary.store, .init()) { _, _ in
        runs.withLock { $0 += 1 }
      }
      fetch.cancel()
      // The threads are still held.
      await #expect(throws: CancellationError.self) { try await fetch.value }
      held.release()
      try await temporary.store.readAsynchronously { _ in }
      #expect(runs.withLock { $0 } == 0)
    }
  }

  @Test(arguments: [
    nil, FetchPredicate.comparison("b", .equal, "nothing"),
  ]) func aFetchThatIsCancelledWhileItRunsEndsAtItsNextCheck(
    predicate: FetchPredicate?
  ) async throws {
    try await withTemporaryStore { temporary in
      _ = try await temporary.store.fillWide(1_500)
      let gate = Gate()
      let looks = Locked(0)
      var options = AsynchronousFetchOptions()
      options.now = {
        // The first is the beginning of the snapshot.
        let look = looks.withLock { looks in
          looks += 1
          return looks
        }
        if look == 2 { gate.pass() }
        return .now
      }
      var request = Self.request
      request.predicate = predicate
      let fetch = temporary.store.fetchAsynchronously(request, options: options)
      await gate.waitForArrival()
      fetch.cancel()
      gate.open()
      await #expect(throws: CancellationError.self) { try await fetch.value }
      #expect(looks.withLock { $0 } == 2)
    }
  }

  @Test func cancellingAfterTheEndChangesNothing() async throws {
    try await withTemporaryStore { temporary in
      _ = try await temporary.store.fillWide(20)
      let fetch = temporary.store.fetchAsynchronously(Self.request)
      #expect(try await fetch.value.count == 20)
      fetch.cancel()
      #expect(try await fetch.value.count == 20)
    }
  }

  @Test func cancellingTheTaskThatWaitsCancelsTheFetch() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      _ = try await store.fillWide(20)
      let held = HeldThreads(of: store)
      let fetch = store.fetchAsynchronously(Self.request)
      let value = Task { try await fetch.value.count }
      let batch = Task {
        var batches = store.fetchBatchesAsynchronously(Self.request).makeAsyncIterator()
        return try await batches.next()?.values.count
      }
      let read = Task { try await store.readAsynchronously { try $0.count(of: "Wide") } }
      value.cancel()
      batch.cancel()
      read.cancel()
      await #expect(throws: CancellationError.self) { try await value.value }
      await #expect(throws: CancellationError.self) { try await batch.value }
      await #expect(throws: CancellationError.self) { try await read.value }
      await #expect(throws: CancellationError.self) { try await fetch.value }
      held.release()
    }
  }

  @Test func aFetchThatIsDroppedEndsAndReleasesWhatItHolds() async throws {
    try await withTemporaryStore { temporary in
      _ = try await temporary.store.fillWide(1_500)
      let (ends, end) = AsyncStream.makeStream(of: Void.self)
      let gate = Gate()
      let looks = Locked(0)
      func begin() -> AsynchronousFetch<[Record]> {
        let witness = Witness { end.yield() }
        var options = AsynchronousFetchOptions()
        options.now = {
          withExtendedLifetime(witness) {
            looks.withLock { $0 += 1 }
            gate.pass()
            return .now
          }
        }
        return temporary.store.fetchAsynchronously(Self.request, options: options)
      }
      var fetch: AsynchronousFetch<[Record]>? = begin()
      await gate.waitForArrival()
      #expect(fetch != nil)
      fetch = nil
      gate.open()
      for await _ in ends { break }
      #expect(looks.withLock { $0 } == 1)
    }
  }

  // MARK: Changes and damage on the way

  @Test func batchesSeeEachRecordAsItIsNow() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let ids = try await store.fillWide(30)
      let options = AsynchronousFetchOptions(batchSize: 10)
      var batches = store.fetchBatchesAsynchronously(Self.request, options: options)
        .makeAsyncIterator()
      #expect(try await batches.next()?.values.map(\.id) == Array(ids[..<10]))
      try await store.write { transaction in
        for number in [5, 12, 13] { _ = try transaction.delete(ids[number]) }
        try transaction.update(WideRow.self, ids[11]) { $0.b = "changed" }
        try transaction.insert(WideRow(a: "late"))
      }
      let second = try #require(try await batches.next())
      #expect(second.values.map(\.id) == [ids[10], ids[11]] + ids[14..<20])
      #expect(second.vanished == 2)
      #expect(second.progress == FetchProgress(completed: 20, total: 30))
      #expect(try second.values[1]["b"] == "changed")
      try await store.write { transaction in
        for id in ids[20...] { _ = try transaction.delete(id) }
      }
      let third = try #require(try await batches.next())
      #expect((third.values.count, third.vanished) == (0, 10))
      #expect(try await hasEnded(&batches))
      #expect(try await hasEnded(&batches))
    }
  }

  @Test func aDamagedRecordThrowsAndReturnsNoPartialResult() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let ids = try await store.fillWide(30)
      let options = AsynchronousFetchOptions(batchSize: 10)
      var batches = store.fetchBatchesAsynchronously(Self.request, options: options)
        .makeAsyncIterator()
      #expect(try await batches.next()?.values.count == 10)
      let old = try store.replaceBytes(of: ids[15], with: [0xff])
      let fetch = store.fetchAsynchronously(Self.request)
      #expect(await code { try await fetch.value } == .damaged)
      #expect(await code { try await fetch.value } == .damaged)
      #expect(await code { _ = try await batches.next() } == .damaged)
      #expect(try await hasEnded(&batches))
      try store.replaceBytes(of: ids[15], with: old)
    }
  }
}

private func hasEnded<T>(_ batches: inout AsynchronousBatches<T>.AsyncIterator) async throws -> Bool
{
  try await batches.next() == nil
}

/// Blocks all fetch threads of a store.
private struct HeldThreads {
  private let gate = DispatchSemaphore(value: 0)

  init(of store: Store) {
    for _ in 0..<StoreLimits.fetchThreadsMax {
      store.fetchThreads.submit { [gate] in gate.wait() }
    }
  }

  func release() {
    for _ in 0..<StoreLimits.fetchThreadsMax { gate.signal() }
  }
}

/// Reports its own deallocation.
private final class Witness: Sendable {
  private let atEnd: @Sendable () -> Void

  init(_ atEnd: @escaping @Sendable () -> Void) { self.atEnd = atEnd }

  deinit { atEnd() }
}
