import Console
import DurableJobs
import EntityModel
import FeedSync
import Foundation
import StatusModel

/// The whole screen as a function of the status, of what is looked at, and of the size.
struct TopScreen {
  let status: StoreStatus
  let state: TopState
  let columns: Int
  let rows: Int
  let palette: TopPalette
  /// An error that passes: the status is not the newest.
  let notice: String?

  let table: TopTable
  /// The rows that the filter leaves, in the order that is shown.
  let listed: [TopTable.Row]
  private let head: [TopLine]

  init(
    _ status: StoreStatus, _ state: TopState, columns: Int, rows: Int, _ palette: TopPalette,
    notice: String? = nil
  ) {
    (self.status, self.state, self.columns, self.rows) = (status, state, columns, rows)
    (self.palette, self.notice) = (palette, notice)
    table = TopTable(state.view, of: status)
    listed = table.rows(with: state.filter, by: state.sort)
    let parts = TopHead(
      status, columns: columns, rows: rows, showsProblems: state.view != .problems)
    head = parts.lines
  }

  /// One line for each row, each of at most `columns` columns.
  var lines: [String] {
    guard rows > 0, columns > 0 else { return [] }
    var lines = Array((head + (rows > head.count + 2 ? [bar] : [])).prefix(rows))
    let body = Array(body.prefix(max(0, rows - lines.count - 1)))
    lines += body
    lines += Array(repeating: TopLine(), count: max(0, rows - lines.count - 1))
    if lines.count < rows { lines.append(foot) }
    return lines.map { $0.text(width: columns, palette) }
  }

  /// The lines between the names of the views and the last line.
  var bodyHeight: Int { max(0, rows - head.count - 2) }

  var selection: Int? { state.selection(in: listed) }

  // MARK: The parts

  /// The names of the views, with what narrows the current one.
  private var bar: TopLine {
    var line = TopLine()
    for view in TopView.allCases {
      line.add(" \(view.rawValue) ", view == state.view ? .selected : .plain)
    }
    let total = state.view == .feeds ? status.feeds.total : table.rows.count
    let count = Formatting.count(Int64(total))
    line.add(listed.count == total ? "  \(count)" : "  \(listed.count) of \(count)", .faint)
    if !state.filter.isEmpty, !state.isTyping { line.add("  filter: \(state.filter)", .bold) }
    if state.isPaused { line.add("  paused", .bold) }
    return line
  }

  private var body: [TopLine] {
    if state.showsHelp { return lines(of: Self.help) }
    if state.showsDetails { return Array(details.dropFirst(state.detailsOffset)) }
    guard let selection else {
      return [TopLine(table.rows.isEmpty ? table.whenEmpty : "no row has this text", .faint)]
    }
    let lines = table.lines(of: listed, sort: state.sort, width: columns)
    let height = max(1, bodyHeight - 1)
    let first = max(0, min(selection - height / 2, listed.count - height))
    let shown = first..<min(listed.count, first + height)
    return [TopLine(lines[0], .bold)]
      + shown.map { index in
        let text = lines[index + 1]
        guard index == selection else { return TopLine(text, listed[index].style) }
        let padding = String(repeating: " ", count: max(0, columns - text.displayWidth))
        return TopLine(text + padding, .selected)
      }
  }

  /// All that is known of the selected row, in lines of the width of the screen.
  var details: [TopLine] { selection.map { lines(of: listed[$0].details) } ?? [] }

  /// Names and values, which are broken into lines. A name without a value is left out.
  private func lines(of facts: [(name: String, value: String?)]) -> [TopLine] {
    let nameWidth = (facts.map(\.name.displayWidth).max() ?? 0) + 2
    return facts.flatMap { name, value in
      guard let value, !value.isEmpty else { return [TopLine]() }
      let isAdvice = name == "command" || name == "advice"
      let parts = value.bounded.singleLine.wrapped(toWidth: max(8, columns - nameWidth))
      return parts.enumerated().map { index, part in
        var line = TopLine((index == 0 ? name : "").padded(to: nameWidth), .faint)
        line.add(part, isAdvice ? .bold : .plain)
        return line
      }
    }
  }

  private var foot: TopLine {
    if let notice { return TopLine(notice, .critical) }
    if state.isTyping { return TopLine("/\(state.filter)_  Enter keeps it, Esc ends", .bold) }
    let keys =
      state.showsDetails || state.showsHelp
      ? "Esc back  ↑↓ move  q quit"
      : "? keys  q quit  f j r w p views  s S sort  / filter  Enter details  space pause"
    return TopLine(keys, .faint)
  }

  private static let help: [(name: String, value: String?)] = [
    ("f j r w p", "feeds, jobs, runs, workers and schedules, problems"),
    ("↑ ↓", "select a row; also Page Up, Page Down, Home, End"),
    ("Enter", "all about the row, with the command to type; Esc goes back"),
    ("s", "sort by the next column; after the last one, the worst first"),
    ("S", "reverse the order"),
    ("/", "show only rows with a text; Enter keeps it, Esc ends"),
    ("space", "pause, and go on"),
    ("Ctrl-Z", "suspend"),
    ("q", "quit; also Ctrl-C"),
  ]
}

extension String {
  /// The text with spaces after it, up to a number of columns.
  func padded(to width: Int) -> String {
    self + String(repeating: " ", count: max(0, width - displayWidth))
  }
}
