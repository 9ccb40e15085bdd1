/// Rows in aligned columns: a line of titles, then the rows, two spaces between columns.
///
/// No rules and no boxes: the output reads well and cuts well with standard tools.
public struct TextTable: Sendable {
  public struct Column: Sendable {
    public enum Kind: Sendable {
      /// Starts at the left edge; may be cut with `…` on a terminal.
      case text
      /// Starts at the left edge; never cut, because it is copied, such as a URL.
      case whole
      /// Ends at the right edge; never cut, because half a number is a wrong number.
      case number
    }

    public let title: String
    public let kind: Kind

    public init(_ title: String, _ kind: Kind = .text) {
      self.title = title
      self.kind = kind
    }
  }

  /// The least width of a text column, however narrow the terminal is.
  private static let textWidthMin = 8
  private static let gap = "  "

  private let columns: [Column]
  private var rows: [[String]] = []
  /// The widths of the rows that were handed out by `takeText`.
  private var earlierWidths: [Int]?

  public init(_ columns: [Column]) {
    self.columns = columns
  }

  /// A table of names and values. A name without a value has no row.
  public init(facts: [(String, String?)]) {
    self.init([Column("attribute"), Column("value")])
    for case (let name, let value?) in facts { append([name, value]) }
  }

  public var isEmpty: Bool { rows.isEmpty }
  public var rowCount: Int { rows.count }

  /// Adds a row. Line breaks and control characters in cells are made harmless.
  ///
  /// - Precondition: As many cells as columns.
  public mutating func append(_ cells: [String]) {
    precondition(cells.count == columns.count, "a row has one cell for each column")
    rows.append(cells.map(\.singleLine))
  }

  /// The table as text, each line ended by a line feed and without trailing spaces.
  ///
  /// - Parameter width: The columns of the terminal, or nil to cut nothing, as in a pipe. Text
  ///   columns give way, the widest first, down to 8 columns; beyond that lines are longer.
  /// - Complexity: O(*n*) in the size of the cells.
  public func text(width: Int?) -> String {
    let widths = columnWidths(within: width)
    var text = line(columns.map(\.title), widths)
    for row in rows { text += line(row, widths) }
    return text
  }

  /// The rows so far as text, which are then forgotten: a table of any length in little memory.
  ///
  /// Titles come once, and the columns keep at least the widths they had, so that the parts stand
  /// under each other as well as can be known.
  public mutating func takeText(width: Int?) -> String {
    let widths = columnWidths(within: width)
    var text = earlierWidths == nil ? line(columns.map(\.title), widths) : ""
    for row in rows { text += line(row, widths) }
    earlierWidths = widths
    rows.removeAll(keepingCapacity: true)
    return text
  }

  private func columnWidths(within limit: Int?) -> [Int] {
    var widths = earlierWidths ?? columns.map(\.title.displayWidth)
    for row in rows {
      for (index, cell) in row.enumerated() {
        widths[index] = max(widths[index], cell.displayWidth)
      }
    }
    guard let limit else { return widths }
    let excess = widths.reduce(Self.gap.count * (widths.count - 1), +) - limit
    return excess > 0 ? shrink(widths, by: excess) : widths
  }

  private func shrink(_ widths: [Int], by excess: Int) -> [Int] {
    let shrinkable = columns.indices.filter { columns[$0].kind == .text }
    // The widest columns are cut to one common width, found by halving: cells may be megabytes.
    func shrunk(to width: Int) -> [Int] {
      var result = widths
      for index in shrinkable { result[index] = min(widths[index], width) }
      return result
    }
    let target = widths.reduce(0, +) - excess
    var fits = Self.textWidthMin
    var tooWide = max(fits + 1, widths.max() ?? 0)
    while fits + 1 < tooWide {
      let middle = (fits + tooWide) / 2
      if shrunk(to: middle).reduce(0, +) <= target { fits = middle } else { tooWide = middle }
    }
    return shrunk(to: fits)
  }

  private func line(_ cells: [String], _ widths: [Int]) -> String {
    var line = ""
    for (index, cell) in cells.enumerated() {
      if index > 0 { line += Self.gap }
      let kind = columns[index].kind
      let shown = kind == .text ? cell.truncated(toWidth: widths[index]) : cell
      let padding = String(repeating: " ", count: max(0, widths[index] - shown.displayWidth))
      line += kind == .number ? padding + shown : shown + padding
    }
    while line.last == " " { line.removeLast() }
    return line + "\n"
  }
}
