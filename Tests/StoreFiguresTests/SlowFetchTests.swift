import EntityModel
import EntityStore
import Foundation
import TestSupport
import Testing

@testable import StoreFigures

@Suite(.timeLimit(.minutes(5))) struct SlowFetchTests {
  private func fetch(_ format: String, by sort: [SortKey] = [], limit: Int? = nil) throws
    -> FetchRequest
  {
    FetchRequest(
      entityName: "Book", predicate: try FetchPredicate(format: format), sortBy: sort,
      fetchLimit: limit)
  }

  @Test func fetchesBelowTheThresholdAreNotSampled() async throws {
    try await withFigures { temporary in
      temporary.fetchClock.setStep(.milliseconds(49))
      _ = try temporary.store.fetch(fetch("rank == 1"))
      temporary.fetchClock.setStep(.milliseconds(50))
      _ = try temporary.store.fetch(fetch("rank == 2"))
      temporary.recorder.fetchObserver.threshold = .milliseconds(51)
      _ = try temporary.store.fetch(fetch("rank == 3"))
      try await temporary.recorder.flush(to: temporary.store)
      let slow = try temporary.figures { try $0.slowFetches() }
      #expect(slow.map(\.request) == ["mooring fetch Book --where 'rank == 2'"])
    }
  }

  @Test func fetchesOfOneShapeAreOneSample() async throws {
    try await withFigures { temporary in
      try await temporary.addBooks(30)
      let start = temporary.clock.now
      for (milliseconds, format) in [
        (60, "rank IN {1, 2} AND name == 'a'"), (90, "rank IN {1, 2, 3} AND name == 'b'"),
        (70, "rank IN {5, 6} AND name == 'c'"),
      ] {
        temporary.fetchClock.setStep(.milliseconds(milliseconds))
        _ = try temporary.store.fetch(fetch(format, by: [SortKey("rank")], limit: 5))
        try await temporary.recorder.flush(to: temporary.store)
        temporary.clock.advance(by: 60)
      }
      let slow = try temporary.figures { try $0.slowFetches() }
      let sample = try #require(slow.first)
      #expect(slow.count == 1 && sample.count == 3 && sample.entity == "Book")
      #expect(abs(sample.totalSeconds - 0.22) < 1e-9 && abs(sample.maxSeconds - 0.09) < 1e-9)
      #expect(sample.firstAt == start && sample.lastAt == start + 120)
      #expect(
        sample.request
          == #"mooring fetch Book --where 'rank IN {1, 2, 3} AND name == "b"' --sort rank --limit 5"#
      )
      #expect(sample.plan.hasPrefix("fetch Book\n  index byName"))
      #expect(sample.plan.contains("read ") && !sample.plan.contains("  not "))
    }
  }

  @Test func aSampleHasItsOwnWindowAndConstantsAlsoIfItsPlanIsShared() async throws {
    try await withFigures { temporary in
      try await temporary.addBooks(30)
      let store = temporary.store
      // Their plans are kept, and those of the slow fetches are the same.
      for limit in [3, 4] {
        _ = try store.fetch(fetch("name != nil", by: [SortKey("name")], limit: limit))
        _ = try store.fetch(fetch("name == 'book \(limit)'"))
      }
      temporary.fetchClock.setStep(.milliseconds(60))
      var slow = try fetch("name != nil", by: [SortKey("name")], limit: 7)
      slow.fetchOffset = 2
      _ = try store.fetch(slow)
      _ = try store.fetch(fetch("name == 'book 9'"))
      try await temporary.recorder.flush(to: store)
      let requests = Set(try temporary.figures { try $0.slowFetches() }.map(\.request))
      #expect(
        requests == [
          "mooring fetch Book --where 'name != nil' --sort name --limit 7 --offset 2",
          #"mooring fetch Book --where 'name == "book 9"'"#,
        ])
    }
  }

  @Test func otherShapesAreOtherSamples() async throws {
    try await withFigures { temporary in
      try await temporary.addBooks(30)
      temporary.fetchClock.setStep(.milliseconds(60))
      let store = temporary.store
      _ = try store.fetch(FetchRequest(entityName: "_Figure"))
      _ = try store.fetch(fetch("rank == 1"))
      _ = try store.fetch(fetch("rank == 1", by: [SortKey("name", descending: true)]))
      _ = try store.fetch(fetch("rank > 1"))
      _ = try store.fetch(fetch("year + 1 > 3"))
      var groups = FetchRequest(entityName: "Book")
      groups.propertiesToGroupBy = ["year", "name"]
      groups.propertiesToFetch = ["year", "name", .count(as: "n")]
      _ = try store.read { try $0.fetchRows(groups) }
      _ = try store.read { try $0.count(self.fetch("name LIKE '*1*'")) }
      try await store.write { transaction in
        _ = try transaction.fetchIdentifiers(self.fetch("rank < 1"))
      }
      try await temporary.recorder.flush(to: store)
      let requests = Set(try temporary.figures { try $0.slowFetches() }.map(\.request))
      #expect(
        requests == [
          "mooring fetch Book --where 'rank == 1'",
          "mooring fetch Book --where 'rank == 1' --sort name:desc",
          "mooring fetch Book --where 'rank > 1'",
          "mooring fetch Book --where 'year + 1 > 3'",
          "mooring fetch Book --group-by year,name --select 'year,name,n=count(*)'",
          #"mooring fetch Book --where 'name LIKE "*1*"'"#,
          "mooring fetch Book --where 'rank < 1'",
        ])
    }
  }

  @Test func asynchronousAndTypedFetchesAreMeasured() async throws {
    try await withFigures { temporary in
      temporary.fetchClock.setStep(.milliseconds(60))
      _ = try await temporary.store.fetchAsynchronously(fetch("rank == 1")).value
      try await temporary.recorder.flush(to: temporary.store)
      #expect(try temporary.figures { try $0.slowFetches() }.count == 1)
    }
  }

  @Test func usesOfIndexesAreCounted() async throws {
    try await withFigures { temporary in
      try await temporary.addBooks(30)
      let start = temporary.clock.now
      try await temporary.recorder.flush(to: temporary.store)
      temporary.clock.advance(by: 90)
      for rank in 0..<5 { _ = try temporary.store.fetch(fetch("rank == \(rank) AND year == 3")) }
      _ = try temporary.store.read { try $0.count(self.fetch("year > 3")) }
      try await temporary.recorder.flush(to: temporary.store)
      let uses = try temporary.figures { try $0.indexUses() }
      #expect(uses.count == 10 && uses.allSatisfy { $0.since == start && $0.entity == "Book" })
      let used = uses.filter { $0.uses > 0 }
      #expect(used.map(\.uses).reduce(0, +) == 6 && used.count == 2)
      #expect(used.allSatisfy { $0.lastUsedAt.map { $0 <= temporary.clock.now } == true })
      // A recorder that the store was not opened with counts nothing.
      let other = FigureRecorder(now: { [clock = temporary.clock] in clock.now })
      #expect(try await other.flush(to: temporary.store) == .nothing)
    }
  }
}
