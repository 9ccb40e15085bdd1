import Foundation

/// Small drawings in SVG, without script. Colors come from the style sheet.
enum Charts {
  /// A line of bars, such as the new items of each day, the oldest at the left.
  static func sparkline(_ values: [Int], label: String) -> HTML {
    guard let most = values.max(), most > 0 else { return "<span class=\"muted\">none</span>" }
    let bars = values.enumerated().map { index, value in
      let height = value == 0 ? 0.5 : max(1.5, 16 * Double(value) / Double(most))
      return bar(x: Double(index) * 5, y: 16 - height, width: 4, height: height)
    }
    return """
      <svg class="spark" role="img" aria-label="\(label)" width="\(values.count * 5)" height="16" \
      viewBox="0 0 \(values.count * 5) 16">\(HTML(bars))</svg>
      """
  }

  struct Bar: Sendable {
    let title: String
    let value: Double
    /// A class of the style sheet: `bad` for failures.
    var style = ""
  }

  /// A chart of bars over time or over ranges, each with a title.
  ///
  /// - Parameter format: The text of a value.
  static func bars(_ bars: [Bar], label: String, format: (Double) -> String) -> HTML {
    guard let most = bars.map(\.value).max(), most > 0 else { return .none }
    let width = 600.0 / Double(max(bars.count, 1))
    let drawn = bars.enumerated().map { index, value -> HTML in
      let height = value.value <= 0 ? 0 : max(1, 90 * value.value / most)
      let title = "\(value.title): \(format(value.value))"
      let x = Double(index) * width
      return """
        <g class="\(value.style)"><title>\(title)</title>\
        <rect class="hit" x="\(x)" y="0" width="\(width)" height="90"/>\
        \(bar(x: x, y: 90 - height, width: max(1, width - 1), height: height))</g>
        """
    }
    let first = bars.first?.title ?? ""
    let last = bars.last?.title ?? ""
    return """
      <figure><figcaption>\(label) <span class="muted">at most \(format(most))</span></figcaption>
      <svg class="chart" role="img" aria-label="\(label)" viewBox="0 0 600 90" \
      preserveAspectRatio="none">\(HTML(drawn))</svg>
      <div class="axis"><span>\(first)</span><span>\(last)</span></div></figure>
      """
  }

  struct Mark: Sendable {
    let at: Date
    let seconds: Double
    let title: String
    let isBad: Bool
  }

  /// The runs of some hours on a line of time: a mark for each, as long as the run.
  static func timeline(_ marks: [Mark], from start: Date, to end: Date, label: String) -> HTML {
    let span = end.timeIntervalSince(start)
    let drawn = marks.filter { $0.at >= start && $0.at <= end }.map { mark -> HTML in
      let x = 600 * mark.at.timeIntervalSince(start) / span
      let width = max(2, 600 * mark.seconds / span)
      return """
        <g class="\(mark.isBad ? "bad" : "")"><title>\(mark.title)</title>\
        \(bar(x: min(x, 598), y: 4, width: min(width, 600 - min(x, 598)), height: 20))</g>
        """
    }
    if drawn.isEmpty { return .none }
    return """
      <figure><figcaption>\(label)</figcaption>
      <svg class="chart low" role="img" aria-label="\(label)" viewBox="0 0 600 28" \
      preserveAspectRatio="none">\(HTML(drawn))</svg>
      <div class="axis"><span>\(Times.exact(start))</span><span>\(Times.exact(end))</span></div>
      </figure>
      """
  }

  private static func bar(x: Double, y: Double, width: Double, height: Double) -> HTML {
    "<rect x=\"\(x)\" y=\"\(y)\" width=\"\(width)\" height=\"\(height)\"/>"
  }
}
