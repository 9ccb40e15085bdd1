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
    let section = section([
      measurement(
        Operation(
          "load", "rows/s", .higher,
          [Target(.atLeast(2, .grdb)), Target(.atMost(1.5, .raw, operation: "sorted load"))]),
        [.mooring: [100], .grdb: [40], .raw: [150]]),
      measurement(Operation("sorted load", "rows/s", .higher), [.raw: [200]]),
      measurement(
        Operation("get", "ns", .lower, [Target(.atMost(2, .raw)), Target(.atMostItself(90))]),
        [.mooring: [100], .raw: [50]]),
    ])
    let all = section.measurements.map { section.ratios(of: $0) }
    #expect(all.map { $0.map(\.reached) } == [[2.5, 2], [], [2, 100]])
    #expect(all.map { $0.map(\.isMet) } == [[true, false], [], [true, false]])
  }

  @Test("What is asked of another size, or of a candidate that did not run, is left out")
  func ratiosLeftOut() {
    let operation = Operation(
      "get", "ns", .lower,
      [Target(.atLeast(2, .grdb), rows: 7), Target(.atLeast(2, .sqlite)), Target(.atMostItself(9))])
    let section = section([measurement(operation, [.mooring: [1], .grdb: [3]])])
    #expect(section.measurements.flatMap { section.ratios(of: $0) }.map(\.reached) == [1])
  }

  @Test("Mooring is held against itself in another operation, and against bounds of 0")
  func ratiosToItself() {
    let section = section([
      measurement(Operation("one", "jobs/s", .higher), [.mooring: [10]]),
      measurement(
        Operation(
          "many", "jobs/s", .higher, [Target(.atLeast(4, .mooring, operation: "one"))]),
        [.mooring: [50]]),
      measurement(
        Operation("late", "ms", .lower, [Target(.atMost(2, .mooring, operation: "none"))]),
        [.mooring: [7]]),
      measurement(Operation("lost", "jobs", .lower, [Target(.atMostItself(0))]), [.mooring: [0]]),
    ])
    let all = section.measurements.map { section.ratios(of: $0) }
    #expect(all.map { $0.map(\.reached) } == [[], [5], [], [0]])
    #expect(all.flatMap { $0 }.map(\.isMet) == [true, true])
    #expect(all[1].first?.text == "5.00 of 4x \"one\"")
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

  @Test("Columns stand under each other; the JSON names each result's candidate")
  func output() throws {
    let section = section([
      measurement(
        Operation("load", "rows/s", .higher, [Target(.atLeast(2, .grdb))]),
        [.mooring: [100, 120], .grdb: [50, 60]]),
      measurement(Operation("sorted load", "rows/s", .higher), [.raw: [1000]]),
    ])
    let results = Results(sections: [section])
    let lines = results.table().split(separator: "\n").filter { $0.contains("rows/s") }
    #expect(lines.count == 2)
    #expect(Set(lines.map { $0.components(separatedBy: "rows/s").first?.count }).count == 1)
    #expect(lines.first?.hasSuffix("2.00 of 2x GRDB") == true)
    #expect(results.table().contains("\n\nreads: 10 episodes\nload "))
    #expect(results.candidates == [.mooring, .grdb, .raw])

    let parsed = try JSONSerialization.jsonObject(with: Data(results.json().utf8))
    let document = try #require(parsed as? [String: Any])
    let sections = try #require(document["sections"] as? [[String: Any]])
    #expect(sections.first?["section"] as? String == "reads")
    let operations = try #require(sections.first?["operations"] as? [[String: Any]])
    let entries = operations.compactMap { $0["results"] as? [[String: Any]] }
    #expect(entries.map(\.count) == [2, 1])
    #expect(entries.first?.compactMap { $0["candidate"] as? String } == ["mooring", "grdb"])
    #expect(entries.first?.compactMap { $0["median"] as? Double } == [110, 55])
  }

  @Test("The chart has a bar for each measured ratio and is well-formed")
  func chart() throws {
    let section = section([
      measurement(
        Operation("a < b", "us", .lower, [Target(.atLeast(2, .grdb))]),
        [.mooring: [10], .grdb: [500], .sqlite: [20], .raw: [4]])
    ])
    let svg = RatioChart(Results(sections: [section]), caption: "R&D").svg
    let document = XMLParser(data: Data(svg.utf8))
    #expect(document.parse())
    for text in [">50.0<", ">2.00<", ">0.400<", "a &lt; b", "R&amp;D"] {
      #expect(svg.contains(text), "\(text)")
    }
  }

  @Test("The chart shows the last of the sizes, and a ring for what is asked at that size")
  func chartOfSizes() {
    let operation = Operation(
      "get", "ns", .lower,
      [Target(.atLeast(8, .grdb), rows: 10), Target(.atMost(4, .raw)), Target(.atMostItself(3))])
    let samples: [CandidateName: [Double]] = [.mooring: [10], .grdb: [50], .raw: [5]]
    let sections = [10, 20].map { rows in
      bench.Section(
        title: "reads", scope: "\(rows) episodes", rows: rows,
        measurements: [
          measurement(operation, samples), measurement(Operation("  part", "ns"), samples),
        ])
    }
    let last = RatioChart(Results(sections: sections), caption: "").svg
    #expect(!last.contains(">10 episodes<") && last.contains(">20 episodes<"))
    #expect(last.components(separatedBy: "class=\"ring raw\"").count == 2)
    #expect(!last.contains("class=\"ring grdb\""))
    #expect(!last.contains(">part<"))
    let first = RatioChart(Results(sections: [sections[0]]), caption: "").svg
    #expect(first.components(separatedBy: "class=\"ring grdb\"").count == 2)
    #expect(first.contains("class=\"grdb missed\""))
  }

  private func measurement(
    _ operation: Operation, _ samples: [CandidateName: [Double]]
  ) -> Measurement {
    var measurement = Measurement(operation)
    measurement.samples = samples
    return measurement
  }

  private func section(_ measurements: [Measurement]) -> bench.Section {
    bench.Section(title: "reads", scope: "10 episodes", rows: 10, measurements: measurements)
  }
}
