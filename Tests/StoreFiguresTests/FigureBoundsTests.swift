import EntityModel
import FeedSync
import Foundation
import TestSupport
import Testing

@testable import EntityStore
@testable import StoreFigures

// A sanitizer takes nine minutes for the longest of them.
@Suite(.timeLimit(.minutes(isSanitized ? 20 : 5))) struct FigureBoundsTests {
  /// Writes a run at a time in a transaction of its own clock.
  private func flush(_ temporary: TemporaryFigures) async throws {
    temporary.recorder.record(.made(.synced), at: temporary.clock.now)
    try await temporary.recorder.flush(to: temporary.store)
  }

  @Test func aClockThatJumpsForwardReplacesNoMoreSlotsThanItAdds() async throws {
    try await withFigures { temporary in
      for _ in 0..<FigureResolution.minute.slotsMax {
        try await flush(temporary)
        temporary.clock.advance(by: 60)
      }
      let full = try temporary.slots(.minute).map(\.start)
      #expect(full.count == 1_440)
      // Thousands of slots are missed, and three are written at a wrong time.
      temporary.clock.advance(by: 365 * 86_400)
      for _ in 0..<3 {
        try await flush(temporary)
        temporary.clock.advance(by: 60)
      }
      #expect(try temporary.slots(.minute).count == 1_440)
      temporary.clock.advance(by: -365 * 86_400)
      for _ in 0..<3 {
        try await flush(temporary)
        temporary.clock.advance(by: 60)
      }
      let after = try temporary.slots(.minute).map(\.start)
      // Those of the wrong time have gone, and three of the oldest.
      #expect(after.count == 1_440 && Array(after.prefix(1_437)) == Array(full.dropFirst(3)))
      #expect(try #require(after.last) < temporary.clock.now)
    }
  }

  @Test func aClockThatIsSetBackDoesNotEndTheRecording() async throws {
    try await withFigures { temporary in
      for _ in 0..<FigureResolution.hour.slotsMax + 10 {
        try await flush(temporary)
        temporary.clock.advance(by: 3_600)
      }
      #expect(try temporary.slots(.hour).count == 744)
      temporary.clock.advance(by: -1_000 * 86_400)
      for _ in 0..<5 {
        try await flush(temporary)
        temporary.clock.advance(by: 3_600)
      }
      let slots = try temporary.slots(.hour)
      #expect(slots.count == 744)
      let lately = slots.filter { $0.start < temporary.clock.now }
      #expect(lately.count == 5)
      temporary.clock.advance(by: -1_500 * 365 * 86_400.0)
      try await flush(temporary)
      #expect(try temporary.slots(.hour).count == 744)
    }
  }

  @Test func allTablesTogetherStayBelowTenMegabytes() async throws {
    try await withFigures(seed: 9) { temporary in
      var random = temporary.random
      let (store, clock) = (temporary.store, temporary.clock)
      let start = clock.now
      try await fillSlots(store, start, &random)
      try await fillFeeds(store, start)
      clock.advance(by: 300)
      try await fillFetches(store, start)
      let trees = try store.statistics().trees.filter { tree in
        switch tree.content {
        case .records(let entity), .index(let entity, _):
          ["_Figure", "_FeedFigures", "_SlowFetch", "_IndexUse"].contains(entity)
        default: false
        }
      }
      #expect(trees.count == 8)
      let counts = Dictionary(
        uniqueKeysWithValues: trees.compactMap { tree -> (String, Int)? in
          guard case .records(let entity) = tree.content else { return nil }
          return (entity, tree.entries)
        })
      #expect(counts["_Figure"] == 1_440 + 744 + 800 && counts["_FeedFigures"] == 20_000)
      #expect(counts["_SlowFetch"] == 200)
      let bytes = trees.map(\.bytes).reduce(0, +)
      print("all figures: \(bytes) bytes", trees.map { "\($0.content) \($0.bytes)" })
      #expect(bytes <= 10_000_000)
    }
  }

  /// Figures of as many bytes as there can be.
  private func largest(_ random: inout SeededRandom) -> SlotFigures {
    var figures = SlotFigures()
    for power in 0..<73 {
      var report = SyncReport.failed(String(random.next()) + String(random.next()))
      (report.new, report.bytes, report.requests) = (.max, .max, .max)
      figures.count(report, seconds: 1e-5 * pow(2, Double(power) / 2 - 0.2))
    }
    for gauge in FigureGauges.all { figures.gauges[keyPath: gauge] = .max }
    return figures
  }

  private func fillSlots(_ store: Store, _ start: Date, _ random: inout SeededRandom) async throws {
    let days = (0..<800).map { start - Double(800 - $0) * 86_400 }
    let minutes = (0..<1_440).map { start - Double(1_440 - $0) * 60 }
    for times in [days, minutes] {
      var times = times[...]
      while !times.isEmpty {
        let batch = times.prefix(100).map { ($0, largest(&random)) }
        times = times.dropFirst(100)
        try await store.write { transaction in
          for (time, figures) in batch {
            var pending = PendingFigures()
            pending.add(figures, at: time)
            var writer = FigureWriter(transaction)
            _ = try writer.write(pending, registersIndexes: false)
          }
        }
      }
    }
  }

  private func fillFeeds(_ store: Store, _ start: Date) async throws {
    let leftOut = try await store.write { transaction in
      var leftOut = 0
      for feed in 0..<20_010 {
        var run = FeedFigures(
          .made(.synced), of: Int64(feed), startedAt: start, endedAt: start)
        run.add(FeedFigures(.failed("a"), of: Int64(feed), startedAt: start, endedAt: start))
        var pending = PendingFigures()
        pending.add(run)
        var writer = FigureWriter(transaction)
        leftOut += try writer.write(pending, registersIndexes: false)
      }
      return leftOut
    }
    #expect(leftOut == 10)
  }

  private func fillFetches(_ store: Store, _ start: Date) async throws {
    try await store.write { transaction in
      for number in 0..<300 {
        let text = FetchPredicate.comparison(
          "name\(number)", .equal,
          .string(String(repeating: "'ä", count: number % 100 == 0 ? 300_000 : 1_000)))
        let request = FetchRequest(
          entityName: String(repeating: "E", count: 1_000), predicate: text)
        var pending = PendingFigures()
        pending.add(
          SlowFetch(
            ObservedFetch(
              request: request, access: "scan", plan: String(repeating: "p", count: 5_000),
              duration: .seconds(number)), at: start + Double(number)))
        var writer = FigureWriter(transaction)
        _ = try writer.write(pending, registersIndexes: true)
      }
    }
    let slow = try store.read { try StoreFigures($0).slowFetches() }
    // The first ones were used longest ago.
    #expect(slow.map(\.totalSeconds).min() == 100)
    #expect(slow.allSatisfy { $0.request.utf8.count <= 1_000 && $0.plan.utf8.count <= 1_000 })
  }
}
