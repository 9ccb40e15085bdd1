import Foundation

extension [Results] {
  /// A list, one for each size, of `{"rows", "seed", "rounds", "loadRounds", "operations":
  /// [{"operation", "unit", "better": "higher"|"lower", "results": [{"candidate", "median", "lowest",
  /// "highest", "samples"}], "ratios": [{"asked", "reached", "isMet", "text"}]}]}`; a candidate without
  /// the operation is left out of its results.
  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return String(decoding: try encoder.encode(map(Document.init)), as: UTF8.self)
  }
}

private struct Document: Encodable {
  struct Line: Encodable {
    let operation: String
    let unit: String
    let better: String
    let results: [Entry]
    let ratios: [RatioEntry]
  }

  struct Entry: Encodable {
    let candidate: String
    let median: Double
    let lowest: Double
    let highest: Double
    let samples: [Double]
  }

  struct RatioEntry: Encodable {
    let asked: Double
    let reached: Double
    let isMet: Bool
    let text: String
  }

  let rows: Int
  let seed: UInt64
  let rounds: Int
  let loadRounds: Int
  let operations: [Line]

  init(_ results: Results) {
    rows = results.rows
    seed = results.seed
    rounds = results.plan.rounds
    loadRounds = results.plan.loadRounds
    operations = results.measurements.map { measurement in
      let entries = results.candidates.compactMap { candidate in
        measurement.summary(of: candidate).map { summary in
          Entry(
            candidate: candidate.rawValue, median: summary.median, lowest: summary.lowest,
            highest: summary.highest, samples: measurement.samples[candidate] ?? [])
        }
      }
      return Line(
        operation: measurement.operation.title.trimmingCharacters(in: .whitespaces),
        unit: measurement.operation.unit, better: measurement.operation.better.rawValue,
        results: entries,
        ratios: results.ratios(of: measurement).map {
          RatioEntry(asked: $0.asked, reached: $0.reached, isMet: $0.isMet, text: $0.text)
        })
    }
  }
}
