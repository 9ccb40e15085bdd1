import Foundation

/// An SVG chart of how many times as fast Mooring is as SQLite in C. For each operation that has a
/// bar, and each number of rows, a dot on a logarithmic scale shows the ratio, slower than SQLite
/// to the left. The chart has its own background, so that it is readable on light and on dark
/// pages.
struct RatioChart {
  private struct Line {
    let name: String
    /// The ratio for each number of rows; nil if the operation was not measured with it.
    var ratios: [Double?]
  }

  private struct Group {
    let title: String
    let sizes: [Int]
    var lines: [Line]
  }

  private let caption: String
  private let groups: [Group]
  private let scale: ClosedRange<Double>

  private let width = 900.0
  private let plot = 320.0...730.0
  /// The right edges of the numbers, from the smallest number of rows to the largest.
  private let columns = [805.0, 880.0]
  private let lineHeight = 18.0
  private let headHeight = 34.0
  private let top = 74.0

  /// Draws the sections. Those with the same title, which differ in size, are one group, of which
  /// the first two sizes are drawn.
  ///
  /// - Parameter caption: The machine and the date of the measurement.
  init(_ results: Results, caption: String) {
    self.caption = caption
    var titles: [String] = []
    for section in results.sections where !titles.contains(section.title) {
      titles.append(section.title)
    }
    groups = titles.compactMap { title in
      Self.group(title, Array(results.sections.filter { $0.title == title }.prefix(2)))
    }
    let all = groups.flatMap { $0.lines.flatMap { $0.ratios.compactMap(\.self) } }
    let (low, high) = (log10(all.min() ?? 1).rounded(.down), log10(all.max() ?? 1).rounded(.up))
    scale = pow(10, min(-1, low))...pow(10, max(1, high))
  }

  /// Returns nil if no operation of the sections has a bar and a ratio.
  private static func group(_ title: String, _ sections: [Section]) -> Group? {
    var lines: [Line] = []
    for (place, section) in sections.enumerated() {
      for measurement in section.measurements where measurement.operation.bar != nil {
        guard let ratio = measurement.timesSQLite else { continue }
        let name = measurement.operation.name
        if !lines.contains(where: { $0.name == name }) {
          lines.append(Line(name: name, ratios: sections.map { _ in nil }))
        }
        guard let line = lines.firstIndex(where: { $0.name == name }) else { continue }
        lines[line].ratios[place] = ratio
      }
    }
    return lines.isEmpty ? nil : Group(title: title, sizes: sections.map(\.rows), lines: lines)
  }

  var svg: String {
    let bottom = groups.reduce(top) { $0 + headHeight + Double($1.lines.count) * lineHeight }
    let height = bottom + 56
    var parts = [
      """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(Int(width))" height="\(Int(height))" \
      viewBox="0 0 \(Int(width)) \(Int(height))" \
      font-family="-apple-system, 'Segoe UI', 'Noto Sans', Helvetica, Arial, sans-serif" \
      font-size="12">
      <style>\(ChartColors.styleSheet)</style>
      <rect class="page" width="100%" height="100%" rx="6"/>
      """,
      text("Mooring compared with SQLite in C", x: 20, y: 28, style: "title"),
      text(
        "Right of 1x Mooring is so many times as fast, or its file so many times smaller.", x: 20,
        y: 48, style: "muted"), grid(to: bottom),
    ]
    var y = top
    for group in groups {
      parts.append(text(group.title, x: 20, y: y + 24, style: "head"))
      for (place, size) in group.sizes.enumerated() {
        parts.append(
          text(size.grouped, x: columns[place], y: y + 24, anchor: "end", style: style(place)))
      }
      parts.append("<path class=\"rule\" d=\"M20 \(y + 30)H\(width - 20)\"/>")
      y += headHeight
      for line in group.lines {
        parts.append(drawing(of: line, y: y + lineHeight / 2))
        y += lineHeight
      }
    }
    parts.append(text(caption, x: 20, y: bottom + 42, style: "muted"))
    return (parts + ["</svg>", ""]).joined(separator: "\n")
  }

  private func grid(to bottom: Double) -> String {
    var lines: [String] = []
    for power in Int(log10(scale.lowerBound).rounded())...Int(log10(scale.upperBound).rounded()) {
      let x = position(pow(10, Double(power)))
      lines.append(
        "<path class=\"\(power == 0 ? "one" : "grid")\" d=\"M\(round(x)) \(top)V\(bottom + 6)\"/>"
          + text(label(power), x: x, y: bottom + 20, anchor: "middle", style: "muted")
          + text(label(power), x: x, y: top - 6, anchor: "middle", style: "muted"))
    }
    return lines.joined(separator: "\n")
  }

  private func drawing(of line: Line, y: Double) -> String {
    var parts = [text(line.name, x: plot.lowerBound - 14, y: y + 4, anchor: "end")]
    for (place, ratio) in line.ratios.enumerated() {
      guard let ratio else { continue }
      parts.append(
        """
        <circle class="\(style(place))" cx="\(round(position(ratio)))" cy="\(y)" \
        r="\(place == 0 ? 4.5 : 3)"/>
        """)
      parts.append(
        text(ratioText(ratio), x: columns[place], y: y + 4, anchor: "end", style: style(place)))
    }
    return parts.joined()
  }

  private func position(_ times: Double) -> Double {
    let (low, high) = (log10(scale.lowerBound), log10(scale.upperBound))
    let share = (log10(times) - low) / (high - low)
    return plot.lowerBound + (plot.upperBound - plot.lowerBound) * share
  }

  private func text(
    _ text: String, x: Double, y: Double, anchor: String = "start", style: String = "plain"
  ) -> String {
    let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
    return """
      <text class="\(style)" x="\(round(x))" y="\(y)" text-anchor="\(anchor)">\(escaped)</text>
      """
  }

  /// Returns the label of a power of ten: `0.01x`, `1x`, `100x`.
  private func label(_ power: Int) -> String {
    power < 0
      ? "0." + String(repeating: "0", count: -power - 1) + "1x"
      : "1" + String(repeating: "0", count: power) + "x"
  }

  private func style(_ place: Int) -> String { place == 0 ? "small" : "large" }
}
