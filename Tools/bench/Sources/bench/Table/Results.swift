import Foundation

/// All measurements of a run, as a table. `json` and `RatioChart` are the other forms.
struct Results {
  let sections: [Section]
  /// True for a smoke run, whose ratios mean nothing.
  var isQuick = false

  /// The candidates that have a measurement, in the order of their columns.
  var candidates: [CandidateName] {
    CandidateName.allCases.filter { name in
      sections.contains { $0.measurements.contains { $0.summary(of: name) != nil } }
    }
  }

  /// Returns the table. Each operation has one aligned line: the median and the spread of each
  /// candidate, then the ratios that were reached, with their targets.
  func table() -> String {
    let lines = sections.map { section in
      section.measurements.filter { !$0.samples.isEmpty || $0.note != nil }
        .map { cells(of: $0, in: section) }
    }
    var aligned = aligned([headings] + lines.flatMap { $0 })[...]
    var text = [aligned.removeFirst()]
    for (section, lines) in zip(sections, lines) {
      text += ["", "\(section.title): \(section.scope)"] + aligned.prefix(lines.count)
      aligned = aligned.dropFirst(lines.count)
    }
    return """
      \(text.joined(separator: "\n"))

      Medians, and half the distance from the lowest to the highest round. \(verdict)
      """
  }

  private var headings: [String] {
    ["operation", "unit"] + candidates.map(\.description) + ["reached, of what is asked"]
  }

  private func cells(of measurement: Measurement, in section: Section) -> [String] {
    var ratios = section.ratios(of: measurement).map(\.text)
    if !measurement.operation.targets.contains(where: { $0.other == .raw }),
      let times = section.times(.raw, betterThan: .mooring, in: measurement)
    {
      ratios.append("\(numberText(times))x \(CandidateName.raw)")
    }
    return [measurement.operation.title, measurement.operation.unit]
      + candidates.map { measurement.summary(of: $0)?.text ?? "-" }
      + [measurement.note ?? ratios.joined(separator: "; ")]
  }

  private var verdict: String {
    if isQuick { return "A smoke run: it judges nothing." }
    let ratios = sections.flatMap { section in section.measurements.flatMap(section.ratios) }
    return "Of \(ratios.count) ratios \(ratios.count(where: \.isMet)) are met; ! marks the others."
  }
}

/// Joins the cells of each line, padded to the width of their columns: numbers to the right, texts
/// to the left.
private func aligned(_ lines: [[String]]) -> [String] {
  let columns = lines.first?.indices ?? 0..<0
  let widths = columns.map { column in lines.map { $0[column].count }.max() ?? 0 }
  return lines.map { line in
    columns.map { column in
      if column == columns.last { return line[column] }
      let padding = String(repeating: " ", count: widths[column] - line[column].count)
      return column < 2 ? line[column] + padding : padding + line[column]
    }.joined(separator: "  ")
  }
}

extension Summary {
  /// The median and half the distance from the lowest to the highest sample: `12.3 ±4%`.
  var text: String {
    guard lowest < highest, median > 0 else { return numberText(median) }
    return numberText(median) + String(format: " ±%.0f%%", (highest - lowest) / median * 50)
  }
}
