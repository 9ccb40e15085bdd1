import Foundation
import FoundationXML
import Testing

@testable import bench

// Foundation has types of these names, too.
private typealias Measurement = bench.Measurement
private typealias Operation = bench.Operation

@Suite("Measurements and the table")
struct MeasurementTests {
  @Test("The median of an even number of rounds is the mean of the middle two")
  func medians() throws {
    #expect(try #require(Summary([3, 1, 2])).median == 2)
    #expect(try #require(Summary([4, 1, 3, 2])).median == 2.5)
    #expect(try #require(Summary([3, 1, 2])).lowest == 1)
    #expect(try #require(Summary([3, 1, 2])).highest == 3)
    #expect(Summary([]) == nil)
  }

  @Test("A ratio to SQLite is that of speeds, for speeds and for times")
  func ratiosToSQLite() {
    let speed = measurement(.claim, [.mooring: [95], .sqlite: [100]])
    let time = measurement(.get, [.mooring: [200], .sqlite: [100], .raw: [10]])
    #expect(speed.timesSQLite == 0.95)
    #expect(time.timesSQLite == 0.5)
    #expect(measurement(.get, [.mooring: [200], .raw: [10]]).timesSQLite == nil)
    #expect(measurement(.get, [.mooring: [0], .sqlite: [10]]).timesSQLite == nil)
  }

  @Test(
    "A bar is met by what reaches it, and by nothing less",
    arguments: [
      (Bar.notSlower, 95, true), (.notSlower, 94.99, false), (.atLeast(2, .sqlite), 200, true),
      (.twoFlushes, 45, true), (.twoFlushes, 44.9, false), (.atMost(1.6, .sqlite), 62.5, true),
      (.atMost(1.6, .sqlite), 62.4, false), (.atMostItself(60), 60, true),
      (.atMostItself(60), 60.1, false), (.atLeastItself(60), 60, true),
      (.atLeastItself(60), 59.9, false),
    ])
  func bars(bar: Bar, own: Double, isMet: Bool) {
    let other: CandidateName = bar == .twoFlushes ? .raw : .sqlite
    let measurement = measurement(
      Operation("one", "rows/s", .higher, bar),
      [.mooring: [own], other: [other == .raw ? 50 : 100]])
    #expect(measurement.verdict?.isMet == isMet)
  }

  @Test(
    "A bar that raw LMDB misses is dropped, unless Mooring meets it",
    arguments: [(94.0, 94.9, false), (94.0, 95.0, true), (95.0, 94.9, true)])
  func droppedBars(own: Double, raw: Double, hasVerdict: Bool) {
    let measurement = measurement(
      Operation("one", "rows/s", .higher, .notSlower),
      [.mooring: [own], .sqlite: [100], .raw: [raw]])
    #expect((measurement.verdict != nil) == hasVerdict)
    #expect((measurement.limitBelowBar != nil) != hasVerdict)
  }

  @Test("Without a bar, or one of its candidates, there is no verdict")
  func noVerdict() {
    let samples: [CandidateName: [Double]] = [.mooring: [7], .sqlite: [8]]
    #expect(measurement(Operation("one", "s"), samples).verdict == nil)
    #expect(measurement(.hotPages, samples).verdict == nil)
    #expect(measurement(.get, samples).verdict?.isMet == true)
  }

  @Test("A load of a million rows has a bar of its own")
  func bulkLoads() {
    #expect(Operation.bulkLoad.bar == .notSlower)
    #expect(Operation.loadGain(rows: 100_000).bar == nil)
    #expect(Operation.loadGain(rows: 1_000_000).bar == .atLeastItself(3))
  }

  @Test("A ratio is never rounded toward its bar")
  func ratioTexts() {
    #expect(ratioText(0.9499) == "0.949")
    #expect(ratioText(0.95) == "0.950")
    #expect(ratioText(0.29) == "0.290")
    #expect(ratioText(1.999) == "1.99")
    #expect(ratioText(12.38) == "12.3")
    #expect(ratioText(123.9) == "123")
    #expect(ratioText(1.601, .up) == "1.61")
    #expect(ratioText(1.6, .up) == "1.60")
  }

  @Test("Samples are gathered by operation, in the order in which operations came first")
  func gathers() {
    var gathered = Measurements()
    gathered.add(1, to: .claim, of: .mooring)
    gathered.add(2, to: .finish, of: .raw)
    gathered.add(3, to: .claim, of: .mooring)
    gathered.add(4, to: .claim, of: .raw)
    #expect(
      gathered.all.map(\.operation.title) == ["claim 128 per commit", "finish 128 per commit"])
    #expect(gathered.all.first?.samples == [.mooring: [1, 3], .raw: [4]])
  }

  @Test("Numbers keep three digits and group thousands")
  func numberTexts() {
    #expect(numberText(0.1234) == "0.123")
    #expect(numberText(1.234) == "1.23")
    #expect(numberText(12.34) == "12.3")
    #expect(numberText(123.4) == "123")
    #expect(numberText(1234.5) == "1,234" || numberText(1234.5) == "1,235")
    #expect(numberText(1_234_567) == "1,234,567")
    #expect(counted(1, "rounds") == "1 round")
    #expect(counted(20, "rounds") == "20 rounds")
    #expect(counted(100_000, "rows") == "100,000 rows")
  }

  @Test("Columns stand under each other, and ! marks the missed bars")
  func table() {
    let results = Results(sections: [reads(rows: 10)])
    let text = results.table()
    #expect(
      text == """
        reads: 10 episodes
        operation  unit    SQLite C  GRDB  raw C   Mooring  ratio to SQLite C  bar
        load       rows/s   110 ±9%  55.0         99.0 ±1%            0.900 !  at least 0.95
        hot        rows/s      80.0         40.0      35.0              0.437  \
        at least 0.9 of raw C: 0.875 !
        put        ms                                 59.0                     at most 60

        Medians, and half the distance from the lowest to the highest round. \
        Of 3 bars 1 are met; ! marks the others.
        """)
    #expect(Results(sections: [reads(rows: 10)], isQuick: true).table().hasSuffix("nothing."))
  }

  @Test("The JSON has each result's candidate, the ratio to SQLite and the bar, for all sizes")
  func json() throws {
    let results = Results(sections: [reads(rows: 10), reads(rows: 20)])
    let parsed = try JSONSerialization.jsonObject(with: Data(results.json().utf8))
    let document = try #require(parsed as? [String: Any])
    let sections = try #require(document["sections"] as? [[String: Any]])
    #expect(sections.map { $0["rows"] as? Int } == [10, 20])
    let operations = try #require(sections.first?["operations"] as? [[String: Any]])
    let entries = operations.compactMap { $0["results"] as? [[String: Any]] }
    #expect(
      entries.map { $0.compactMap { $0["candidate"] as? String } }
        == [["sqlite", "grdb", "mooring"], ["sqlite", "raw", "mooring"], ["mooring"], []])
    #expect(entries.first?.compactMap { $0["median"] as? Double } == [110, 55, 99])
    #expect(operations.map { $0["ratioToSQLite"] as? Double } == [0.9, 0.4375, nil, nil])
    let bars = operations.compactMap { $0["bar"] as? [String: Any] }
    #expect(bars.map { $0["isMet"] as? Bool } == [false, false, true])
    #expect(bars.map { $0["text"] as? String }.last == "at most 60")
  }

  @Test("Marked parts of a Markdown file are replaced, unless the run has nothing for them")
  func markdown() throws {
    let file = MarkdownFile(
      results: Results(sections: [reads(rows: 10), reads(rows: 20)]), caption: "R&D")
    let text = """
      before
      <!-- bench sections: reads -->
      old
      <!-- end of bench -->
      between
      <!-- bench lines: hot; put -->
      <!-- end of bench -->
      <!-- bench sections: reads; jobs -->
      kept
      <!-- end of bench -->
      <!-- bench lines: hot; none -->
      kept, too
      <!-- end of bench -->
      """
    let updated = try file.updated(text, name: "a.md")
    #expect(!updated.contains("old"))
    #expect(updated.contains("\nkept\n") && updated.contains("\nkept, too\n"))
    #expect(updated.contains("reads -->\n\nR&D.\n\n**reads: 10 episodes**\n\n| operation"))
    #expect(updated.contains("**reads: 20 episodes**"))
    let head = "| operation | unit | SQLite C | raw C | Mooring | ratio to SQLite C | bar |"
    let hot = "| hot | rows/s | 80.0 | 40.0 | 35.0 | 0.437 | at least 0.9 of raw C: 0.875 ! |"
    #expect(
      updated.contains(
        """
        between
        <!-- bench lines: hot; put -->

        \(head)
        |---|---|--:|--:|--:|--:|---|
        \(hot)
        | put | ms |  |  | 59.0 |  | at most 60 |

        R&D.

        <!-- end of bench -->
        """))
    #expect(try file.updated(updated, name: "a.md") == updated)
    #expect(throws: BenchError.self) { try file.updated("<!-- bench lines: hot -->", name: "a") }
  }

  @Test("The chart has the ratios to SQLite of both sizes, and is well-formed")
  func chart() {
    let other = bench.Section(
      title: "a < b", scope: "", rows: 5,
      measurements: [
        measurement(.get, [.mooring: [10], .sqlite: [25]]),
        measurement(Operation("without a bar", "s"), [.mooring: [10], .sqlite: [30]]),
      ])
    let results = Results(sections: [reads(rows: 10), reads(rows: 2_000), other])
    let svg = RatioChart(results, caption: "R&D").svg
    #expect(XMLParser(data: Data(svg.utf8)).parse())
    for text in [">0.900<", ">0.437<", ">2.50<", ">10<", ">2,000<", "a &lt; b", "R&amp;D"] {
      #expect(svg.contains(text), "\(text)")
    }
    #expect(svg.components(separatedBy: "<circle class=\"large\"").count == 3)
    #expect(svg.components(separatedBy: "<circle class=\"small\"").count == 4)
    #expect(!svg.contains("without a bar") && !svg.contains(">put<"))
    #expect(XMLParser(data: Data(RatioChart(Results(sections: []), caption: "").svg.utf8)).parse())
  }

  private func reads(rows: Int) -> bench.Section {
    bench.Section(
      title: "reads", scope: "\(rows) episodes", rows: rows,
      measurements: [
        measurement(
          Operation("load", "rows/s", .higher, .notSlower),
          [.mooring: [98, 100], .sqlite: [100, 120], .grdb: [55]]),
        measurement(
          Operation("hot", "rows/s", .higher, .twoFlushes),
          [.mooring: [35], .sqlite: [80], .raw: [40]]),
        measurement(Operation("put", "ms", .lower, .atMostItself(60)), [.mooring: [59]]),
        measurement(Operation("not run", "ms"), [:]),
      ])
  }

  private func measurement(
    _ operation: Operation, _ samples: [CandidateName: [Double]]
  ) -> Measurement {
    Measurement(operation, samples: samples)
  }
}
