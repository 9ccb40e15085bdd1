import EntityModel
import Foundation
import TestSupport
import Testing

@testable import EntityStore

/// Records that are read in place.
@Suite struct RecordsInPlaceTests {
  @Test func aClosureReadsWhatAFetchReads() async throws {
    try await withTemporaryStore(seed: 17) { temporary in
      var random = temporary.random
      for number in 0..<50 {
        var sample = Sample(name: "名\(number)", random: &random)
        if number % 3 == 0 { sample.title = nil }
        let one = sample
        try await temporary.store.write { _ = try $0.insert(one) }
      }
      let descriptor = FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.rank)], fetchLimit: 20)
      var read: [Line] = []
      let statistics = try temporary.store.forEachRecord(descriptor) { record in
        let rank: Int = try record["rank"]
        // In another order with every other record, and some attributes of some only.
        let title =
          rank.isMultiple(of: 2) ? nil : try record.withText("title") { String(copying: $0) }
        let name = try record.withText("name") { String(copying: $0) }
        read.append(Line(id: record.id, name: name, title: title))
        return true
      }
      let expected = try temporary.store.read { transaction in
        try transaction.fetch(try descriptor.request()).map { record in
          let sample = try #require(try transaction.get(Sample.self, record.id))
          return Line(
            id: record.id, name: sample.name,
            title: sample.rank.isMultiple(of: 2) ? nil : sample.title)
        }
      }
      #expect(read == expected, "seed \(random.seed)")
      #expect(statistics.rowsReturned == 20)
    }
  }

  private struct Line: Equatable {
    var id: ObjectID
    var name: String?
    var title: String?
  }

  @Test func itEndsWhenTheClosureSaysSo() async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write {
        for name in ["a", "b", "c"] { _ = try $0.insert("Sample", ["name": .string(name)]) }
      }
      var names: [String] = []
      try temporary.store.forEachRecord(FetchDescriptor<Sample>()) { record in
        names.append(try record["name"])
        return names.count < 2
      }
      #expect(names == ["a", "b"])
    }
  }

  @Test func aClosureMayWriteAndReadOn() async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { transaction in
        for rank in 0..<300 as Range<Int64> {
          _ = try transaction.insert(
            "Sample", ["name": .string("n\(rank)"), "rank": .int64(rank), "title": "before"])
        }
      }
      try await temporary.store.write { transaction in
        let all = FetchDescriptor<Sample>(sortBy: [SortDescriptor(\.rank)])
        var seen: [String] = []
        try transaction.forEachRecord(all) { record in
          try transaction.update(record.id) { try $0.set("title", to: "after") }
          _ = try transaction.insert("Sample", ["name": .string("x\(seen.count)"), "rank": 1_000])
          // The record is a copy, so that it still says what it said.
          #expect(try record.withText("title") { String(copying: $0) } == "before")
          seen.append(try record["name"])
          return true
        }
        #expect(seen == (0..<300).map { "n\($0)" })
      }
      let changed = FetchRequest(
        entityName: "Sample", predicate: .comparison("title", .equal, .string("after")))
      #expect(try temporary.store.read { try $0.count(changed) } == 300)
    }
  }

  @Test func whatIsNoTextIsRefused() async throws {
    try await withTemporaryStore { temporary in
      try await temporary.store.write { _ = try $0.insert("Sample", ["name": "a"]) }
      let all = FetchDescriptor<Sample>()
      #expect(
        code {
          try temporary.store.forEachRecord(all) { record in
            _ = try record.withText("rank") { $0.count }
            return true
          }
        } == .schemaMismatch)
      #expect(
        code {
          try temporary.store.forEachRecord(all) { record in
            _ = try record.withText("nothing") { $0.count }
            return true
          }
        } == .unknownAttribute)
      let grouped = FetchRequest.groupedByKind
      #expect(
        code { try temporary.store.read { _ = try $0.forEachRecord(grouped) { _ in true } } }
          == .invalidRequest)
    }
  }
}

extension FetchRequest {
  fileprivate static var groupedByKind: FetchRequest {
    var request = FetchRequest(entityName: "Sample")
    request.propertiesToGroupBy = ["kind"]
    return request
  }
}
