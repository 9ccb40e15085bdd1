import Foundation

/// The measurements of a whole run, as a table for people or JSON for programs.
struct Results {
  let rows: Int
  let seed: UInt64
  let plan: Plan
  let candidates: [String]
  let measurements: [Measurement]

  /// One aligned line per operation: each candidate's median, then how many times better than the
  /// first candidate the others are. A second block repeats the lines with lowest and highest.
  func table() -> String {
    let others = candidates.indices.dropFirst()
    let medians = measurements.map { measurement in
      candidates.indices.map { measurement.summary(of: $0).map { figures($0.median) } ?? "-" }
        + others.map { measurement.ratio(of: $0).map { "\(figures($0))x" } ?? "-" }
    }
    let spreads = measurements.map { measurement in
      candidates.indices.map { measurement.summary(of: $0)?.spread ?? "-" }
    }
    return """
      \(rows) episodes, seed \(seed), \(plan.rounds) rounds (\(plan.loadRounds) of the loads)
      The right-hand columns say how many times better than \(candidates.first ?? "") each of the \
      others is; below 1 it is worse.

      \(block(candidates + others.map { candidates[$0] }, medians))

      Lowest to highest of the rounds

      \(block(candidates, spreads))
      """
  }

  /// `{"rows", "seed", "rounds", "loadRounds", "candidates", "measurements": [{"operation", "unit",
  /// "better": "higher"|"lower", "results": [{"candidate", "median", "lowest", "highest",
  /// "samples", "ratio"}]}]}`; a candidate without the operation is left out of its results.
  func json() throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
    return String(decoding: try encoder.encode(Document(self)), as: UTF8.self)
  }

  private func block(_ headings: [String], _ cells: [[String]]) -> String {
    aligned(
      [["operation", "unit"] + headings]
        + zip(measurements, cells).map { [$0.operation, $0.unit] + $1 })
  }
}

/// The cells of all lines under each other: the first two columns to the left, all others to the
/// right.
func aligned(_ lines: [[String]]) -> String {
  let columns = lines.first?.indices ?? 0..<0
  let widths = columns.map { column in lines.map { $0[column].count }.max() ?? 0 }
  return lines.map { line in
    columns.map { column in
      let padding = String(repeating: " ", count: widths[column] - line[column].count)
      return column < 2 ? line[column] + padding : padding + line[column]
    }.joined(separator: "  ")
  }.joined(separator: "\n")
}

extension Summary {
  var spread: String {
    lowest < highest ? "\(figures(lowest)) - \(figures(highest))" : figures(median)
  }
}

/// Three significant figures below a hundred, whole numbers with grouped thousands above.
func figures(_ value: Double) -> String {
  guard value >= 100 else {
    return String(format: value >= 10 ? "%.1f" : value >= 1 ? "%.2f" : "%.3f", value)
  }
  let digits = Array(String(Int(value.rounded())))
  let grouped = digits.enumerated().map { index, digit in
    index > 0 && (digits.count - index).isMultiple(of: 3) ? ",\(digit)" : "\(digit)"
  }
  return grouped.joined()
}

private struct Document: Encodable {
  struct Line: Encodable {
    let operation: String
    let unit: String
    let better: String
    let results: [Entry]
  }

  struct Entry: Encodable {
    let candidate: String
    let median: Double
    let lowest: Double
    let highest: Double
    let samples: [Double]
    let ratio: Double?
  }

  let rows: Int
  let seed: UInt64
  let rounds: Int
  let loadRounds: Int
  let candidates: [String]
  let measurements: [Line]

  init(_ results: Results) {
    rows = results.rows
    seed = results.seed
    rounds = results.plan.rounds
    loadRounds = results.plan.loadRounds
    candidates = results.candidates
    measurements = results.measurements.map { measurement in
      let entries = results.candidates.indices.compactMap { index in
        measurement.summary(of: index).map { summary in
          Entry(
            candidate: results.candidates[index], median: summary.median, lowest: summary.lowest,
            highest: summary.highest, samples: measurement.samples[index],
            ratio: measurement.ratio(of: index))
        }
      }
      return Line(
        operation: measurement.operation.trimmingCharacters(in: .whitespaces),
        unit: measurement.unit, better: measurement.better.rawValue, results: entries)
    }
  }
}
