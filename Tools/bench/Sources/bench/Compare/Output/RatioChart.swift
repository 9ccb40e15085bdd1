import Foundation

/// How many times better Mooring is than each of the others, operation by operation, on a logarithmic
/// scale; to the left of 1 it is worse.
struct RatioChart {
  private struct Bar {
    let candidate: CandidateName
    let times: Double
  }

  private let title: String
  private let rows: [(operation: String, bars: [Bar])]
  private let scale: ClosedRange<Double>

  private let labelWidth = 270.0
  private let plotWidth = 560.0
  private let barHeight = 11.0

  /// - Parameter caption: where and when it was measured.
  init(_ results: Results, caption: String) {
    title = "Mooring beside others, \(results.rows) episodes. \(caption)"
    let others: [CandidateName] = [.grdb, .sqlite, .raw].filter(results.candidates.contains)
    rows = results.measurements.compactMap { measurement in
      guard !measurement.operation.targets.isEmpty else { return nil }
      let bars = others.compactMap { other in
        results.times(.mooring, betterThan: other, in: measurement).map {
          Bar(candidate: other, times: $0)
        }
      }
      let operation = measurement.operation.title.trimmingCharacters(in: .whitespaces)
      return bars.isEmpty ? nil : (operation, bars)
    }
    let all = rows.flatMap { $0.bars.map(\.times) }
    scale = Self.decade(below: all.min() ?? 1)...Self.decade(above: all.max() ?? 1)
  }

  var svg: String {
    let rowHeights = rows.map { Double($0.bars.count) * barHeight + 9 }
    let bottom = rowHeights.reduce(58, +)
    var lines = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" width="900" height="\(Int(bottom + 24))" \
      font-family="sans-serif" font-size="11">
      <rect width="100%" height="100%" fill="white"/>
      """,
      text(title, x: 10, y: 18, size: 13), legend, grid(from: 52, to: bottom),
    ]
    var top = 58.0
    for (row, height) in zip(rows, rowHeights) {
      lines.append(text(row.operation, x: labelWidth - 8, y: top + 10, anchor: "end"))
      for (place, bar) in row.bars.enumerated() {
        lines.append(drawing(of: bar, y: top + Double(place) * barHeight))
      }
      top += height
    }
    return (lines + ["</svg>", ""]).joined(separator: "\n")
  }

  private var legend: String {
    let names: [CandidateName] = [.grdb, .sqlite, .raw]
    return names.enumerated().map { place, name in
      let x = labelWidth + Double(place) * 150
      return rectangle(x: x, y: 28, width: 10, height: 10, color(of: name))
        + text("times better than \(name)", x: x + 14, y: 37)
    }.joined()
  }

  private func grid(from top: Double, to bottom: Double) -> String {
    var lines: [String] = []
    var times = scale.lowerBound
    while times <= scale.upperBound {
      let x = position(times)
      let stroke = times == 1 ? "black" : "#ddd"
      lines.append(
        "<path d=\"M\(round(x)) \(top)V\(bottom)\" stroke=\"\(stroke)\"/>"
          + text("\(figures(times))x", x: x, y: bottom + 14, anchor: "middle"))
      times *= 10
    }
    return lines.joined(separator: "\n")
  }

  private func drawing(of bar: Bar, y: Double) -> String {
    let (x, one) = (position(bar.times), position(1))
    return rectangle(
      x: min(x, one), y: y, width: max(1, abs(x - one)), height: barHeight - 2,
      color(of: bar.candidate))
      + text("\(figures(bar.times))", x: max(x, one) + 4, y: y + 9, size: 9)
  }

  private func position(_ times: Double) -> Double {
    let (low, high) = (log10(scale.lowerBound), log10(scale.upperBound))
    return labelWidth + plotWidth * (log10(times) - low) / (high - low)
  }

  private func rectangle(
    x: Double, y: Double, width: Double, height: Double, _ color: String
  ) -> String {
    """
    <rect x="\(round(x))" y="\(round(y))" width="\(round(width))" height="\(round(height))" \
    fill="\(color)"/>
    """
  }

  private func text(
    _ text: String, x: Double, y: Double, anchor: String = "start", size: Int = 11
  ) -> String {
    let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    return """
      <text x="\(round(x))" y="\(round(y))" text-anchor="\(anchor)" font-size="\(size)">\
      \(escaped)</text>
      """
  }

  private func color(of candidate: CandidateName) -> String {
    switch candidate {
    case .grdb, .grdbCached: "#e08a2c"
    case .sqlite: "#3b7dd8"
    case .mooring, .mooringView, .raw: "#7a7a7a"
    }
  }

  /// The power of ten, and at least one of them on each side of 1.
  private static func decade(below times: Double) -> Double {
    pow(10, min(-1, floor(log10(times))))
  }

  private static func decade(above times: Double) -> Double {
    pow(10, max(1, ceil(log10(times))))
  }
}
