import Console

/// How a part of a line looks.
enum TopStyle {
  case plain, bold, faint, selected, critical, warning, note, good
}

/// The styles that the output can show.
enum TopPalette {
  /// Text alone.
  case none
  /// Bold and reversed text, with `NO_COLOR`.
  case attributes
  /// The 16 colors of every terminal.
  case colors

  func paint(_ text: String, _ style: TopStyle) -> String {
    guard let code = code(style), !text.isEmpty else { return text }
    return "\u{1B}[\(code)m\(text)\u{1B}[0m"
  }

  /// The parameter of SGR (ECMA-48, 8.3.117); nil for none.
  private func code(_ style: TopStyle) -> Int? {
    switch (self, style) {
    case (.none, _), (_, .plain): nil
    case (_, .bold): 1
    case (_, .selected): 7
    case (.attributes, _): nil
    case (.colors, .critical): 91
    case (.colors, .warning): 33
    case (.colors, .good): 32
    case (.colors, .note): 36
    case (.colors, .faint): 90
    }
  }
}

/// A line of the screen, made of parts. Its texts are harmless: they may come from a feed.
struct TopLine {
  private var parts: [(text: String, style: TopStyle)] = []

  init() {}

  init(_ text: String, _ style: TopStyle = .plain) { add(text, style) }

  mutating func add(_ text: String, _ style: TopStyle = .plain) {
    parts.append((text.bounded.singleLine, style))
  }

  var width: Int { parts.map(\.text.displayWidth).reduce(0, +) }

  /// Returns the line cut to a number of columns.
  func text(width: Int, _ palette: TopPalette) -> String {
    var text = ""
    var left = width
    for part in parts where left > 0 {
      let shown = part.text.truncated(toWidth: left)
      left -= shown.displayWidth
      text += palette.paint(shown, part.style)
    }
    return text
  }
}

extension String {
  /// The beginning of a text that may be long: a screen shows no more.
  var bounded: String {
    utf8.count <= 4_000 ? self : String(unicodeScalars.prefix(2_000)) + "…"
  }

  /// Returns the text in lines of at most a number of columns, broken at spaces where possible.
  func wrapped(toWidth width: Int) -> [String] {
    var lines: [String] = []
    var line = ""
    var lineWidth = 0
    for character in self {
      let added = String(character).displayWidth
      if lineWidth + added > width, !line.isEmpty {
        let space = character == " " ? nil : line.lastIndex(of: " ")
        let rest = space.map { String(line[line.index(after: $0)...]) } ?? ""
        lines.append(space.map { String(line[..<$0]) } ?? line)
        (line, lineWidth) = (rest, rest.displayWidth)
        if character == " " { continue }
      }
      line.append(character)
      lineWidth += added
    }
    return lines + [line]
  }
}
