/// The style sheet of the chart, in the colors of GitHub's light and dark pages.
enum ChartColors {
  static let styleSheet = """
    \(rules(light))
    .title { font-size: 16px; font-weight: 600 }
    .head { font-size: 13px; font-weight: 600 }
    .grid, .rule, .one { fill: none }
    .one { stroke-width: 2 }
    @media (prefers-color-scheme: dark) { \(rules(dark)) }
    """

  private struct Palette {
    let page: String
    let text: String
    let muted: String
    let line: String
    /// The colors of the smaller and of the larger number of rows.
    let small: String
    let large: String
  }

  private static let light = Palette(
    page: "#ffffff", text: "#1f2328", muted: "#59636e", line: "#d1d9e0", small: "#0969da",
    large: "#bc4c00")
  private static let dark = Palette(
    page: "#0d1117", text: "#f0f6fc", muted: "#9198a1", line: "#3d444d", small: "#58a6ff",
    large: "#f0883e")

  private static func rules(_ palette: Palette) -> String {
    """
    .page { fill: \(palette.page); stroke: \(palette.line) }
    .plain, .title, .head { fill: \(palette.text) }
    .muted { fill: \(palette.muted) }
    .grid, .rule { stroke: \(palette.line) }
    .one { stroke: \(palette.muted) }
    .small { fill: \(palette.small) } .large { fill: \(palette.large) }
    """
  }
}
