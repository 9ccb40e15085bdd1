import Foundation

/// An SVG chart of how many times better Mooring is than each of the others. A dot for each
/// operation on a logarithmic scale shows the ratio, worse than 1 to the left; a ring shows the
/// target. The chart has its own background, so that it is readable on light and on dark pages.
struct RatioChart {
  private struct Line {
    let name: String
    /// How many times better than each candidate Mooring is, and how many times it should be.
    let times: [CandidateName: Double]
    let asked: [CandidateName: Double]
  }

  private struct Group {
    let title: String
    let scope: String
    let lines: [Line]
  }

  private static let others: [CandidateName] = [.grdb, .sqlite, .raw]

  private let caption: String
  private let groups: [Group]
  private let scale: ClosedRange<Double>

  private let width = 900.0
  private let plot = 300.0...680.0
  /// The right edges of the numbers.
  private let columns = [750.0, 815.0, 880.0]
  private let lineHeight = 18.0
  private let headHeight = 34.0
  private let top = 74.0

  /// Draws the operations that are not indented below another one. Of sections with the same title,
  /// which differ in size, only the last one is drawn.
  ///
  /// - Parameter caption: The machine and the date of the measurement.
  init(_ results: Results, caption: String) {
    self.caption = caption
    var groups: [Group] = []
    for section in results.sections {
      let lines = section.measurements.compactMap { Self.line($0, in: section) }
      groups.removeAll { $0.title == section.title }
      guard !lines.isEmpty else { continue }
      groups.append(Group(title: section.title, scope: section.scope, lines: lines))
    }
    self.groups = groups
    let all = groups.flatMap { $0.lines.flatMap { Array($0.times.values) + $0.asked.values } }
    let (low, high) = (log10(all.min() ?? 1).rounded(.down), log10(all.max() ?? 1).rounded(.up))
    scale = pow(10, min(-1, low))...pow(10, max(1, high))
  }

  private static func line(_ measurement: Measurement, in section: Section) -> Line? {
    let operation = measurement.operation
    guard !operation.title.hasPrefix(" ") else { return nil }
    var times: [CandidateName: Double] = [:]
    for other in others {
      times[other] = section.times(.mooring, betterThan: other, in: measurement)
    }
    var asked: [CandidateName: Double] = [:]
    for target in operation.targets where target.rows == nil || target.rows == section.rows {
      switch target.bound {
      case .atLeast(let factor, let other, operation: nil): asked[other] = factor
      case .atMost(let factor, let other, operation: nil): asked[other] = 1 / factor
      default: continue
      }
    }
    asked = asked.filter { times[$0.key] != nil }
    return times.isEmpty ? nil : Line(name: operation.name, times: times, asked: asked)
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
      text("How many times better Mooring is", x: 20, y: 28, style: "title"),
      text(
        "Right of 1x it is ahead. A ring is what is asked; figures in italics are short of it.",
        x: 20, y: 48,
        style: "muted"), legend, grid(to: bottom),
    ]
    var y = top
    for group in groups {
      parts.append(text(group.title, x: 20, y: y + 24, style: "head"))
      parts.append(text(group.scope, x: width - 20, y: y + 24, anchor: "end", style: "muted"))
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

  private var legend: String {
    zip(Self.others, columns).map { other, x in
      text("\(other)".replacing(" LMDB", with: ""), x: x, y: 60, anchor: "end", style: style(other))
    }.joined()
  }

  private func grid(to bottom: Double) -> String {
    var lines: [String] = []
    for power in Int(log10(scale.lowerBound).rounded())...Int(log10(scale.upperBound).rounded()) {
      let x = position(pow(10, Double(power)))
      lines.append(
        "<path class=\"\(power == 0 ? "one" : "grid")\" d=\"M\(round(x)) \(top)V\(bottom + 6)\"/>"
          + text(plain(power), x: x, y: bottom + 20, anchor: "middle", style: "muted")
          + text(plain(power), x: x, y: top - 6, anchor: "middle", style: "muted"))
    }
    return lines.joined(separator: "\n")
  }

  private func drawing(of line: Line, y: Double) -> String {
    var parts = [text(line.name, x: plot.lowerBound - 14, y: y + 4, anchor: "end")]
    for (other, column) in zip(Self.others, columns) {
      guard let times = line.times[other] else { continue }
      let asked = line.asked[other]
      if let asked { parts.append(circle(asked, y, radius: 5.5, "ring \(style(other))")) }
      parts.append(circle(times, y, radius: 4, style(other)))
      let isMissed = asked.map { times < $0 } ?? false
      parts.append(
        text(
          numberText(times), x: column, y: y + 4, anchor: "end",
          style: isMissed ? "\(style(other)) missed" : style(other)))
    }
    return parts.joined()
  }

  private func position(_ times: Double) -> Double {
    let (low, high) = (log10(scale.lowerBound), log10(scale.upperBound))
    let share = (log10(times) - low) / (high - low)
    return plot.lowerBound + (plot.upperBound - plot.lowerBound) * share
  }

  private func circle(_ times: Double, _ y: Double, radius: Double, _ style: String) -> String {
    "<circle class=\"\(style)\" cx=\"\(round(position(times)))\" cy=\"\(y)\" r=\"\(radius)\"/>"
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
  private func plain(_ power: Int) -> String {
    power < 0
      ? "0." + String(repeating: "0", count: -power - 1) + "1x"
      : "1" + String(repeating: "0", count: power) + "x"
  }

  private func style(_ candidate: CandidateName) -> String { candidate.rawValue }
}
