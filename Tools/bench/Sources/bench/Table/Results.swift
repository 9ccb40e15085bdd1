import Foundation

/// All measurements of a run, as tables. `json`, `MarkdownFile` and `RatioChart` are the other
/// forms.
struct Results {
  let sections: [Section]
  /// True for a smoke run, whose ratios mean nothing.
  var isQuick = false

  /// Returns a table for each section, and the number of bars that are met. Each operation has one
  /// aligned line: the median and the spread of each candidate, the ratio to SQLite, and the bar.
  func table() -> String {
    let tables = sections.map { section in
      let table = TextTable(section, cell: \.text)
      return "\(section.heading)\n" + table.aligned.joined(separator: "\n") + "\n"
    }
    return tables.joined(separator: "\n") + """

      Medians, and half the distance from the lowest to the highest round. \(verdict)
      """
  }

  /// The number of bars that are met, for the end of the tables.
  var verdict: String {
    if isQuick { return "A smoke run: it judges nothing." }
    let verdicts = sections.flatMap { $0.measurements.compactMap(\.verdict) }
    let met = verdicts.count(where: \.isMet)
    return "Of \(counted(verdicts.count, "bars")) \(met) are met; ! marks the others."
  }
}

extension Section {
  /// The title and the scope, above a table.
  var heading: String { "\(title): \(scope)" }

  /// The candidates that have a measurement, in the order of their columns.
  var candidates: [CandidateName] {
    CandidateName.allCases.filter { name in measurements.contains { $0.summary(of: name) != nil } }
  }

  /// The measurements that the tables show.
  var shown: [Measurement] { measurements.filter { !$0.samples.isEmpty || $0.note != nil } }
}

/// The cells of the table of some measurements.
struct TextTable {
  let headings: [String]
  let lines: [[String]]

  /// - Parameter cell: The text of a candidate's samples.
  init(_ section: Section, cell: (Summary) -> String) {
    self.init(section.shown, section.candidates, cell: cell)
  }

  init(
    _ measurements: [Measurement], _ candidates: [CandidateName], cell: (Summary) -> String
  ) {
    headings =
      ["operation", "unit"] + candidates.map(\.description) + ["ratio to SQLite C", "bar"]
    lines = measurements.map { measurement in
      [measurement.operation.title, measurement.operation.unit]
        + candidates.map { measurement.summary(of: $0).map(cell) ?? "" }
        + [measurement.ratioCell, measurement.barCell]
    }
  }

  /// The lines, padded to the width of their columns: numbers to the right, texts to the left.
  var aligned: [String] {
    let all = [headings] + lines
    let widths = headings.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    return all.map { line in
      let cells = headings.indices.map { column in
        let padding = String(repeating: " ", count: widths[column] - line[column].count)
        let isText = column < 2 || column == headings.count - 1
        return isText ? line[column] + padding : padding + line[column]
      }
      return cells.joined(separator: "  ").trimmingSuffix(" ")
    }
  }
}

extension Measurement {
  /// The ratio to SQLite in C, as in `0.888 !`. The mark is for a bar that is missed.
  fileprivate var ratioCell: String {
    guard let times = timesSQLite else { return "" }
    guard let verdict, case .atLeast(_, .sqlite) = verdict.bar else { return ratioText(times) }
    return verdict.reachedText + (verdict.isMet ? "" : " !")
  }

  /// The bar, or why it is dropped, with the number that was reached unless the ratio to SQLite is
  /// that number, as in `at least 0.9 of raw C: 0.783 !`.
  fileprivate var barCell: String {
    if let note { return note }
    if let limitBelowBar { return "none: raw C reaches \(ratioText(limitBelowBar))" }
    guard let verdict else { return "" }
    switch verdict.bar {
    case .atLeast(_, .sqlite): return verdict.bar.text
    case .atLeast, .atMost:
      return "\(verdict.bar.text): \(verdict.reachedText)\(verdict.isMet ? "" : " !")"
    case .atMostItself, .atLeastItself: return verdict.bar.text + (verdict.isMet ? "" : " !")
    }
  }
}

extension Summary {
  /// The median and half the distance from the lowest to the highest sample: `12.3 ±4%`.
  var text: String {
    guard lowest < highest, median > 0 else { return numberText(median) }
    return numberText(median) + String(format: " ±%.0f%%", (highest - lowest) / median * 50)
  }
}

extension String {
  fileprivate func trimmingSuffix(_ character: Character) -> String {
    String(self[..<(lastIndex { $0 != character }.map(index(after:)) ?? startIndex)])
  }
}
