/// The samples of `bench import`, one per round.
struct ImportResults {
  enum Line: String, CaseIterable {
    case load = "load by Store, 2,000 per commit"
    case whole = "import, read back"
    case objects = "  copy and write"
    case verification = "  read back"
    case again = "import again, nothing changed"
  }

  private let rows: Int
  private var seconds: [Line: [Double]] = [:]
  private var memory: [Double] = []

  init(rows: Int) { self.rows = rows }

  mutating func add(_ line: Line, _ seconds: Double) {
    self.seconds[line, default: []].append(seconds)
  }

  mutating func add(memory bytes: Int) { memory.append(Double(bytes) / 1e6) }

  /// Rows per second, and how many times those of the load they are.
  func table() -> String {
    let load = summary(.load)?.median
    var lines = [["\(figures(Double(rows))) rows", "unit", "median", "spread", "of the load"]]
    for line in Line.allCases {
      guard let found = summary(line) else { continue }
      let ratio = load.map { "\(figures(found.median / $0))x" } ?? "-"
      lines.append([line.rawValue, "rows/s", figures(found.median), found.spread, ratio])
    }
    if let memory = Summary(memory) {
      lines.append(["peak of own memory", "MB", figures(memory.median), memory.spread, "-"])
    }
    return aligned(lines)
  }

  private func summary(_ line: Line) -> Summary? {
    seconds[line].flatMap { Summary($0.map { Double(rows) / $0 }) }
  }
}
