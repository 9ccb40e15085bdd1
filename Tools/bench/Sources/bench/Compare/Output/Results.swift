import Foundation

/// The measurements of one size, as a table for people; `json` and `chart` are its other forms.
struct Results {
  let rows: Int
  let seed: UInt64
  let plan: Plan
  let candidates: [CandidateName]
  let measurements: [Measurement]

  /// One aligned line per operation: each candidate's median and how far the rounds lie from it, then
  /// the ratios against what people use, then those against raw LMDB.
  func table() -> String {
    let headings =
      ["operation", "unit"] + candidates.map(\.description)
      + ["against what people use", "against raw LMDB"]
    let lines = measurements.filter { !$0.samples.isEmpty }.map { measurement in
      let ratios = ratios(of: measurement)
      let cells = candidates.map { measurement.summary(of: $0)?.text ?? "-" }
      return [measurement.operation.title, measurement.operation.unit] + cells
        + [false, true].map { isLimit in
          ratios.filter { $0.target.isLimit == isLimit }.map(\.text).joined(separator: "; ")
        }
    }
    let all = measurements.flatMap(ratios)
    return """
      \(rows) episodes, seed \(seed), \(plan.rounds) rounds (\(plan.loadRounds) of the loads)

      \(aligned([headings] + lines))

      Medians, and half the distance from the lowest to the highest round. \(verdict(all))
      """
  }

  private func verdict(_ ratios: [Ratio]) -> String {
    if plan.isQuick { return "A smoke run: it judges nothing." }
    return "Of \(ratios.count) ratios \(ratios.count(where: \.isMet)) are met; ! marks the others."
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
  /// `12.3 ±4%`.
  var text: String {
    guard lowest < highest, median > 0 else { return figures(median) }
    return figures(median) + String(format: " ±%.0f%%", (highest - lowest) / median * 50)
  }

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
