import Foundation

/// A table of the screen, by its contents.
enum TopView: String, CaseIterable {
  case feeds, jobs, runs, workers, problems

  /// The key that shows it: its first letter.
  var key: Character { rawValue.first ?? " " }
}

/// The view of the operator: the table, its order and filter, the selected row. Keys change it.
struct TopState {
  /// The longest filter.
  private static let filterMax = 100

  private(set) var view = TopView.feeds
  private(set) var filter = ""
  private(set) var isTyping = false
  private(set) var isPaused = false
  private(set) var showsHelp = false
  private(set) var showsDetails = false
  /// The lines of the details above the screen.
  private(set) var detailsOffset = 0
  private var sorts: [TopView: TopTable.Sort] = [:]
  /// The selected row, and its place when it was selected.
  private var selected: (key: String, index: Int)?

  var sort: TopTable.Sort { sorts[view] ?? .init() }

  /// The place of the selected row; nil for no rows. The row of a key that is no longer there is
  /// the one at its place.
  func selection(in rows: [TopTable.Row]) -> Int? {
    guard !rows.isEmpty else { return nil }
    guard let selected else { return 0 }
    return rows.firstIndex { $0.key == selected.key } ?? min(selected.index, rows.count - 1)
  }

  /// Does what a key means.
  ///
  /// - Parameter screen: What is on the screen.
  /// - Returns: False if the key ends the program.
  mutating func handle(_ key: TopKey, on screen: TopScreen) -> Bool {
    if key == .interrupt { return false }
    if move(key, on: screen) { return true }
    if isTyping {
      type(key)
      return true
    }
    switch key {
    case .enter: showDetails(screen)
    case .escape: goBack()
    case .character("q"): return false
    case .character(let character): handle(character, on: screen)
    default: break
    }
    return true
  }

  private mutating func handle(_ character: Character, on screen: TopScreen) {
    if let view = TopView.allCases.first(where: { $0.key == character }) { return show(view) }
    switch character {
    case "s" where sort.column == screen.table.columns.count - 1: sorts[view] = .init()
    case "s": sorts[view] = .init(column: sort.column.map { $0 + 1 } ?? 0)
    case "S": sorts[view, default: .init()].isReversed.toggle()
    case "/": (isTyping, showsDetails, showsHelp) = (true, false, false)
    case " ": isPaused.toggle()
    case "?": showsHelp.toggle()
    default: break
    }
  }

  private mutating func show(_ view: TopView) {
    if view != self.view { selected = nil }
    (self.view, showsDetails, showsHelp) = (view, false, false)
  }

  private mutating func showDetails(_ screen: TopScreen) {
    guard !showsDetails, let index = screen.selection else { return goBack() }
    selected = (screen.listed[index].key, index)
    (showsDetails, showsHelp, detailsOffset) = (true, false, 0)
  }

  /// Leaves the help, the details or the filter.
  private mutating func goBack() {
    if showsHelp {
      showsHelp = false
    } else if showsDetails {
      showsDetails = false
    } else {
      filter = ""
    }
  }

  private mutating func type(_ key: TopKey) {
    switch key {
    case .character(let character) where filter.count < Self.filterMax: filter.append(character)
    case .backspace: filter = String(filter.dropLast())
    case .enter: isTyping = false
    case .escape: (isTyping, filter) = (false, "")
    default: break
    }
  }

  /// Moves the selection or the details.
  ///
  /// - Returns: False for a key that does not move.
  private mutating func move(_ key: TopKey, on screen: TopScreen) -> Bool {
    let page = max(1, screen.bodyHeight - 1)
    let step: Int
    switch key {
    case .up: step = -1
    case .down: step = 1
    case .pageUp: step = -page
    case .pageDown: step = page
    case .home: step = -1_000_000
    case .end: step = 1_000_000
    default: return false
    }
    if showsDetails {
      let most = max(0, screen.details.count - screen.bodyHeight)
      detailsOffset = max(0, min(most, detailsOffset + step))
    } else if let index = screen.selection {
      let moved = max(0, min(screen.listed.count - 1, index + step))
      selected = (screen.listed[moved].key, moved)
    }
    return true
  }
}
