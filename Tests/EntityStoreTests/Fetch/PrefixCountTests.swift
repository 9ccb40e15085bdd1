import EntityModel
import EntityStore
import TestSupport
import Testing

/// Groups that an index begins with are counted by its entries.
@Suite struct PrefixCountTests {
  @Test func noRecordIsReadAndTheCountsAreThoseOfTheRecords() async throws {
    try await withTemporaryStore { temporary in
      var random = SeededRandom(seed: 11)
      var model: [[Value]: Int64] = [:]
      for number in 0..<400 {
        let kind: Value = [.int64(1), .int64(2), .null].randomElement(using: &random) ?? .null
        let score: Value =
          [.double(-0.0), .double(0), .double(2.5), .null]
          .randomElement(using: &random) ?? .null
        try await temporary.store.write { transaction in
          try transaction.insert(
            "Sample", ["name": .string("s\(number)"), "kind": kind, "score": score])
        }
        model[[kind, score == .double(-0.0) ? .double(0) : score], default: 0] += 1
      }
      let (rows, plan) = try answer(by: ["score", "kind"], in: temporary.store)
      #expect(
        Dictionary(uniqueKeysWithValues: rows.map { ([$0[1], $0[0]], $0[2]) })
          == model.mapValues { .int64($0) })
      #expect(plan.kinds.contains(.indexOnly) && !plan.kinds.contains(.scan))
      #expect(plan.indexes.map(\.name) == ["byKind"])
      #expect(plan.statistics?.recordsRead == 0)
    }
  }

  @Test func aCutTextIsComparedByItsRecord() async throws {
    try await withTemporaryStore { temporary in
      let long = String(repeating: "x", count: 2_000)
      for (number, title) in ["a", "a", long + "1", long + "2", long + "2"].enumerated() {
        try await temporary.store.write { transaction in
          try transaction.insert(
            "Sample", ["name": .string("s\(number)"), "title": .string(title)])
        }
      }
      let (rows, plan) = try answer(by: ["title"], in: temporary.store)
      #expect(rows.map { $0[1] } == [.int64(2), .int64(1), .int64(2)])
      #expect(rows.last?.first == .string(long + "2"))
      #expect(plan.statistics?.recordsRead == 3, "those whose keys were cut")
    }
  }

  @Test func manyEntriesAreCountedByTheirPages() async throws {
    try await withTemporaryStore { temporary in
      var random = SeededRandom(seed: 12)
      var ranks: [Int64: Int] = [:]
      for start in stride(from: 0, to: 5_000, by: 1_000) {
        let rows = (start..<start + 1_000).map { (name: "s\($0)", rank: Int64(random.next() % 4)) }
        for row in rows { ranks[row.rank, default: 0] += 1 }
        try await temporary.store.write { transaction in
          for row in rows {
            try transaction.insert(
              "Sample", ["name": .string(row.name), "rank": .int64(row.rank)])
          }
        }
      }
      let (rows, plan) = try answer(by: ["rank"], in: temporary.store)
      #expect(rows == ranks.sorted { $0.key < $1.key }.map { [.int64($0), .int64(Int64($1))] })
      #expect(plan.statistics.map { $0.entriesRead <= 4 * 64 } == true)
      for (rank, count) in ranks {
        let some = FetchRequest(
          entityName: "Sample", predicate: .comparison("rank", .equal, .int64(rank)))
        #expect(try temporary.store.read { try $0.count(some) } == count)
        let above = FetchRequest(
          entityName: "Sample", predicate: .comparison("rank", .greater, .int64(rank)))
        let more = ranks.filter { $0.key > rank }.values.reduce(0, +)
        #expect(try temporary.store.read { try $0.count(above) } == more)
      }
      // A write transaction sees its own changes, whose pages are not in the file.
      try await temporary.store.write { transaction in
        let some = FetchRequest(
          entityName: "Sample", predicate: .comparison("rank", .equal, .int64(2)))
        let before = try transaction.count(some)
        try transaction.insert("Sample", ["name": "one more", "rank": 2])
        #expect(try transaction.count(some) == before + 1)
      }
    }
  }

  private func answer(
    by keys: [String], in store: Store
  ) throws -> (rows: [[Value]], plan: FetchPlan) {
    var request = FetchRequest(entityName: "Sample")
    request.propertiesToGroupBy = keys
    request.propertiesToFetch = keys.map(FetchProperty.path) + [.count(as: "count")]
    request.resultType = .rows
    return try store.read { transaction in
      (try transaction.fetchRows(request).map(\.values), try transaction.explain(request))
    }
  }
}
