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

  @Test("Ratios count as their targets do, for speeds and for times")
  func ratios() throws {
    let results = results([
      measurement(
        Operation(
          "load", "rows/s", .higher,
          [Target(.atLeast(2, .grdb)), Target(.atMost(1.5, .raw, operation: "sorted load"))]),
        [.mooring: [100], .grdb: [40], .raw: [150]]),
      measurement(Operation("sorted load", "rows/s", .higher), [.raw: [200]]),
      measurement(
        Operation("get", "ns", .lower, [Target(.atMost(2, .raw)), Target(.atMostOwn(90))]),
        [.mooring: [100], .raw: [50]]),
    ])
    let all = results.measurements.map { results.ratios(of: $0) }
    #expect(all.map { $0.map(\.reached) } == [[2.5, 2], [], [2, 100]])
    #expect(all.map { $0.map(\.isMet) } == [[true, false], [], [true, false]])
  }

  @Test("What is asked of another size, or of a candidate that did not run, is left out")
  func ratiosLeftOut() {
    let operation = Operation(
      "get", "ns", .lower,
      [Target(.atLeast(2, .grdb), rows: 7), Target(.atLeast(2, .sqlite)), Target(.atMostOwn(9))])
    let results = results([measurement(operation, [.mooring: [1], .grdb: [3]])])
    #expect(results.measurements.flatMap { results.ratios(of: $0) }.map(\.reached) == [1])
  }

  @Test("Figures keep three digits and group thousands")
  func figuresForPeople() {
    #expect(figures(0.1234) == "0.123")
    #expect(figures(1.234) == "1.23")
    #expect(figures(12.34) == "12.3")
    #expect(figures(123.4) == "123")
    #expect(figures(1234.5) == "1,234" || figures(1234.5) == "1,235")
    #expect(figures(1_234_567) == "1,234,567")
  }

  @Test("Every line of the table is equally wide; the JSON names each result's candidate")
  func output() throws {
    let results = results([
      measurement(
        Operation("load", "rows/s", .higher, [Target(.atLeast(2, .grdb))]),
        [.mooring: [100, 120], .grdb: [50, 60]]),
      measurement(Operation("sorted load", "rows/s", .higher), [.raw: [1000]]),
    ])
    let lines = results.table().split(separator: "\n").filter { $0.contains("rows/s") }
    #expect(lines.count == 2)
    #expect(Set(lines.map(\.count)).count == 1)
    #expect(lines.first?.contains("2.00 of 2x GRDB") == true)

    let parsed = try JSONSerialization.jsonObject(with: Data([results].json().utf8))
    let documents = try #require(parsed as? [[String: Any]])
    let operations = try #require(documents.first?["operations"] as? [[String: Any]])
    let entries = operations.compactMap { $0["results"] as? [[String: Any]] }
    #expect(entries.map(\.count) == [2, 1])
    #expect(entries.first?.compactMap { $0["candidate"] as? String } == ["mooring", "grdb"])
    #expect(entries.first?.compactMap { $0["median"] as? Double } == [110, 55])
  }

  @Test("The chart has a bar for each measured ratio and is well-formed")
  func chart() throws {
    let results = results([
      measurement(
        Operation("a < b", "us", .lower, [Target(.atLeast(2, .grdb))]),
        [.mooring: [10], .grdb: [500], .sqlite: [20], .raw: [4]])
    ])
    let svg = RatioChart(results, caption: "R&D").svg
    let document = XMLParser(data: Data(svg.utf8))
    #expect(document.parse())
    for text in [">50.0<", ">2.00<", ">0.400<", "a &lt; b", "R&amp;D"] {
      #expect(svg.contains(text), "\(text)")
    }
  }

  private func measurement(
    _ operation: Operation, _ samples: [CandidateName: [Double]]
  ) -> Measurement {
    var measurement = Measurement(operation)
    measurement.samples = samples
    return measurement
  }

  private func results(_ measurements: [Measurement]) -> Results {
    Results(
      rows: 10, seed: 1, plan: Plan(rounds: 2, loadRounds: 2),
      candidates: [.mooring, .grdb, .sqlite, .raw], measurements: measurements)
  }
}
