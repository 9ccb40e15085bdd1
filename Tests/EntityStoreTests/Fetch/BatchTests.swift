import EntityModel
import Foundation
import LMDB
import TestSupport
import Testing

@testable import EntityStore

/// Fetches in batches, in place, and faults: identities first, records when they are looked at.
@Suite struct BatchTests {
  private static var wide: FetchDescriptor<WideRow> {
    FetchDescriptor(sortBy: [SortDescriptor(\.a)])
  }

  @Test(arguments: [201, 202] as [UInt64])
  func enumerationsAndLazyResultsEqualAFetch(seed: UInt64) async throws {
    try await withTemporaryStore(seed: seed) { temporary in
      let store = temporary.store
      var history = try await BatchSamples.history(in: temporary)
      for round in 0..<100 {
        var request = history.random.request(history.entity, records: history.records)
        let expected = try store.fetch(request).map(\.values)
        request.fetchBatchSize = history.random.number(0...9).unlessZero
        let context: Comment = "seed \(seed), round \(round)"

        var enumerated: [[Value]] = []
        let summary = try store.fetchBatches(request).forEach { enumerated.append($0.values) }
        try #require(enumerated == expected, context)
        try #require(summary == BatchesSummary(returned: expected.count, vanished: 0), context)
        var streamed: [[Value]] = []
        try store.forEach(request) { record in
          streamed.append(record.values)
          return true
        }
        try #require(streamed == expected, context)

        let results = try store.fetchBatches(request)
        try #require(results.count == expected.count, context)
        for position in results.indices.shuffled(using: &history.random) {
          try #require(try results[position]?.values == expected[position], context)
          try #require(results.batchesHeld <= StoreLimits.batchesKept, context)
        }
        var listed: [[Value]] = []
        try results.forEach { listed.append($0.values) }
        try #require(listed == expected, context)
      }
    }
  }

  @Test func anEnumerationHoldsNoSnapshotAndSeesEachRecordAsItIsNow() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let ids = try await store.fillWide(100)
      let gate = Gate()
      async let enumeration = onThread {
        var seen: [WideRow] = []
        let summary = try store.fetchBatches(Self.wide, batchSize: 10).forEach { row in
          seen.append(row)
          if seen.count == 15 { gate.pass() }
        }
        return (seen: seen, summary: summary)
      }
      await gate.waitForArrival()
      #expect(try await !store.pinsPages(changing: ids[0]))
      try await store.write { transaction in
        // One that was enumerated, one that was read already, and two that were not.
        for number in [3, 17, 40, 41] { _ = try transaction.delete(ids[number]) }
        try transaction.update(WideRow.self, ids[50]) { $0.b = "changed" }
        try transaction.insert(WideRow(a: "late"))
      }
      gate.open()
      let (seen, summary) = try await enumeration
      #expect(summary == BatchesSummary(returned: 98, vanished: 2))
      #expect(seen.map(\.a) == (0..<100).filter { ![40, 41].contains($0) }.map(BatchSamples.name))
      #expect(seen.filter { $0.b == "changed" }.map(\.a) == [BatchSamples.name(50)])
    }
  }

  @Test func anEnumerationInATransactionHoldsItsSnapshot() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let ids = try await store.fillWide(100)
      let gate = Gate()
      async let enumeration = onThread {
        try store.read { transaction in
          var seen: [String] = []
          let statistics = try transaction.forEach(Self.wide) { row in
            seen.append(row.a)
            if seen.count == 15 { gate.pass() }
            return true
          }
          return (seen: seen, statistics: statistics)
        }
      }
      await gate.waitForArrival()
      #expect(try await store.pinsPages(changing: ids[0]))
      try await store.write { _ = try $0.delete(ids[40]) }
      gate.open()
      let (seen, statistics) = try await enumeration
      #expect(statistics.rowsReturned == 100)
      #expect(seen == (0..<100).map(BatchSamples.name))
    }
  }

  @Test func anErrorOfTheClosureEndsAnEnumeration() async throws {
    struct Enough: Error {}
    try await withTemporaryStore { temporary in
      _ = try await temporary.store.fillWide(30)
      var calls = 0
      #expect(throws: Enough.self) {
        try temporary.store.fetchBatches(Self.wide, batchSize: 4).forEach { _ in
          calls += 1
          if calls == 7 { throw Enough() }
        }
      }
      #expect(calls == 7)
    }
  }

  @Test func lazyResultsReadABatchOnceAndKeepOnlyAFew() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      _ = try await store.fillWide(100)
      let results = try store.fetchBatches(Self.wide, batchSize: 10)
      #expect((results.batchesHeld, results.batchesRead) == (0, 0))
      for position in 0..<40 { _ = try results[position] }
      #expect((results.batchesHeld, results.batchesRead) == (4, 4))
      // The first batch was used last, so the second goes when a fifth comes.
      _ = try results[0]
      _ = try results[99]
      #expect((results.batchesHeld, results.batchesRead) == (4, 5))
      #expect(try results[9]?.a == BatchSamples.name(9))
      #expect(results.batchesRead == 5)
      #expect(try results[10]?.a == BatchSamples.name(10))
      #expect((results.batchesHeld, results.batchesRead) == (4, 6))
    }
  }

  @Test func lazyResultsReportDeletedRecordsAndPinNothing() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let ids = try await store.fillWide(50)
      let results = try store.fetchBatches(Self.wide, batchSize: 10)
      #expect(try results[0] != nil)
      #expect(try await !store.pinsPages(changing: ids[49]))
      try await store.write { transaction in
        for id in ids[20..<30] { _ = try transaction.delete(id) }
      }
      #expect(results.count == 50)
      #expect(try results[25] == nil)
      #expect(try results.identifier(at: 25) == ids[25])
      var seen: [String] = []
      let summary = try results.forEach { seen.append($0.a) }
      #expect(summary == BatchesSummary(returned: 40, vanished: 10))
      #expect(seen == (Array(0..<20) + Array(30..<50)).map(BatchSamples.name))
    }
  }

  @Test func lazyResultsServeManyTasksAtOnce() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      _ = try await store.fillWide(100)
      let results = try store.fetchBatches(Self.wide, batchSize: 3)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for task in 0..<8 {
          group.addTask {
            var random = SeededRandom(seed: UInt64(task))
            for _ in 0..<200 {
              let position = random.number(0...99)
              try #require(try results[position]?.a == BatchSamples.name(position))
            }
          }
        }
        try await group.waitForAll()
      }
      #expect(results.batchesHeld <= StoreLimits.batchesKept)
    }
  }

  @Test func aDamagedRecordIsAnErrorOfItsBatchOnly() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let ids = try await store.fillWide(50)
      let results = try store.fetchBatches(Self.wide, batchSize: 10)
      let old = try store.replaceBytes(of: ids[25], with: [0xff])
      #expect(code { try results[22] } == .damaged)
      #expect(try results[19]?.a == BatchSamples.name(19))
      var seen = 0
      #expect(code { try results.forEach { _ in seen += 1 } } == .damaged)
      #expect(seen == 20)
      #expect(
        code { try store.fetchBatches(Self.wide, batchSize: 10).forEach { _ in } } == .damaged)
      try store.replaceBytes(of: ids[25], with: old)
      #expect(try results[22]?.a == BatchSamples.name(22))
    }
  }

  @Test func positionsAndBatchSizesOutOfRangeAreRefused() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let none = try store.fetchBatches(Self.wide)
      #expect(none.isEmpty)
      #expect(none.batchSize == StoreLimits.batchRecords)
      #expect(code { try none[0] } == .invalidRequest)
      _ = try await store.fillWide(3)
      let results = try store.fetchBatches(FetchRequest(entityName: "Wide"), batchSize: .max)
      #expect(try results[2]?["a"] == .string(BatchSamples.name(2)))
      for position in [-1, 3, .min, .max] {
        #expect(code { try results[position] } == .invalidRequest)
        #expect(code { try results.identifier(at: position) } == .invalidRequest)
        #expect(code { try results.fault(at: position) } == .invalidRequest)
      }
      for size in [-1, 0] {
        #expect(code { try store.fetchBatches(Self.wide, batchSize: size) } == .invalidRequest)
      }
      var grouped = FetchRequest(entityName: "Wide")
      grouped.propertiesToGroupBy = ["a"]
      #expect(code { try store.fetchBatches(grouped) } == .invalidRequest)
      #expect(code { try store.forEach(grouped) { _ in true } } == .invalidRequest)
    }
  }

  @Test func aFaultReadsItsRecordAsItIsNow() async throws {
    try await withTemporaryStore { temporary in
      let store = temporary.store
      let ids = try await store.fillWide(3)
      let fault = try store.fault(WideRow.self, ids[1])
      let untyped = store.fault(ids[1])
      let listed = try store.fetchBatches(Self.wide).fault(at: 1)
      #expect((fault.id, untyped.id, listed.id) == (ids[1], ids[1], ids[1]))
      try await store.write { try $0.update(WideRow.self, ids[1]) { $0.b = "new" } }
      #expect(try fault.load()?.b == "new")
      #expect(try listed.load()?.b == "new")
      #expect(try untyped.load()?["b"] == "new")
      try await store.write { _ = try $0.delete(ids[1]) }
      #expect(try fault.load() == nil)
      #expect(try listed.load() == nil)
      #expect(try untyped.load() == nil)
      #expect(code { try store.fault(Sample.self, ids[0]) } == .invalidRequest)
      let unknown = store.fault(ObjectID(entity: "None", number: 1))
      #expect(code { try unknown.load() } == .unknownEntity)
    }
  }
}
