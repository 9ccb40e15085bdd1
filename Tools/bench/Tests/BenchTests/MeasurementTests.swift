import Foundation
import Testing

@testable import bench

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

  @Test("A ratio above 1 is better, for speeds and for times")
  func ratios() {
    var speed = Measurement("load", "rows/s", better: .higher, candidates: 3)
    speed.samples = [[100], [50], []]
    #expect(speed.ratio(of: 1) == 0.5)
    #expect(speed.ratio(of: 2) == nil)
    var time = Measurement("get", "ns", better: .lower, candidates: 2)
    time.samples = [[100], [50]]
    #expect(time.ratio(of: 1) == 2)
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

  @Test("Every line of a block is equally wide; the JSON names each result's candidate")
  func output() throws {
    var load = Measurement("load", "rows/s", better: .higher, candidates: 2)
    load.samples = [[100, 120], [50, 60]]
    var sorted = Measurement("sorted load", "rows/s", better: .higher, candidates: 2)
    sorted.samples = [[1000], []]
    let results = Results(
      rows: 10, seed: 1, plan: Plan(rounds: 2, loadRounds: 2), candidates: ["one", "two"],
      measurements: [load, sorted])
    let lines = results.table().split(separator: "\n").filter { $0.contains("rows/s") }
    #expect(Set(lines.prefix(2).map(\.count)).count == 1)
    #expect(lines.first?.contains("0.500x") == true)

    let parsed = try JSONSerialization.jsonObject(with: Data(results.json().utf8))
    let document = try #require(parsed as? [String: Any])
    let measurements = try #require(document["measurements"] as? [[String: Any]])
    let entries = measurements.compactMap { $0["results"] as? [[String: Any]] }
    #expect(entries.map(\.count) == [2, 1])
    #expect(entries.first?.compactMap { $0["candidate"] as? String } == ["one", "two"])
    #expect(entries.first?.compactMap { $0["median"] as? Double } == [110, 55])
  }
}
