/// The style sheet of the chart, in the colors of GitHub's light and dark pages.
enum ChartColors {
  static let styleSheet = """
    \(rules(light))
    .title { font-size: 16px; font-weight: 600 }
    .head { font-size: 13px; font-weight: 600 }
    .missed { font-style: italic }
    .grid, .rule, .one { fill: none }
    .one { stroke-width: 1.5 }
    .ring { fill: none; stroke-width: 1.2 }
    @media (prefers-color-scheme: dark) { \(rules(dark)) .ring { fill: none } }
    """

  private struct Palette {
    let page: String
    let text: String
    let muted: String
    let line: String
    let grdb: String
    let sqlite: String
    let raw: String
  }

  private static let light = Palette(
    page: "#ffffff", text: "#1f2328", muted: "#59636e", line: "#d1d9e0", grdb: "#bc4c00",
    sqlite: "#0969da", raw: "#1a7f37")
  private static let dark = Palette(
    page: "#0d1117", text: "#f0f6fc", muted: "#9198a1", line: "#3d444d", grdb: "#f0883e",
    sqlite: "#58a6ff", raw: "#3fb950")

  private static func rules(_ palette: Palette) -> String {
    let candidates = [("grdb", palette.grdb), ("sqlite", palette.sqlite), ("raw", palette.raw)]
    return """
      .page { fill: \(palette.page); stroke: \(palette.line) }
      .plain, .title, .head { fill: \(palette.text) }
      .muted { fill: \(palette.muted) }
      .grid, .rule { stroke: \(palette.line) }
      .one { stroke: \(palette.muted) }

      """
        + candidates.map { ".\($0) { fill: \($1) } .ring.\($0) { stroke: \($1) }" }
        .joined(separator: "\n")
  }
}
