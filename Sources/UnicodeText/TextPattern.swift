/// A pattern of LIKE: `*` stands for any run of characters, also for none, `?` for one Unicode
/// scalar, and a backslash takes what follows it literally. At the end it stands for itself.
///
/// Texts are matched as bytes. With a folding, the literal parts of the pattern are folded here,
/// and the texts must be folded in the same way; `?` is then one scalar of the folded text.
package struct TextPattern: Sendable {
  private enum Element: Equatable {
    case byte(UInt8)
    case anyScalar
    case anyRun
  }

  private var elements: [Element] = []

  package init(_ pattern: String, folding: TextFolding = TextFolding()) {
    var literal: [UInt8] = []
    var isEscaped = false
    for byte in pattern.utf8 {
      switch byte {
      case UInt8(ascii: "\\") where !isEscaped:
        isEscaped = true
        continue
      case UInt8(ascii: "*") where !isEscaped:
        end(&literal, folding)
        if elements.last != .anyRun { elements.append(.anyRun) }
      case UInt8(ascii: "?") where !isEscaped:
        end(&literal, folding)
        elements.append(.anyScalar)
      default: literal.append(byte)
      }
      isEscaped = false
    }
    if isEscaped { literal.append(UInt8(ascii: "\\")) }
    end(&literal, folding)
  }

  private mutating func end(_ literal: inout [UInt8], _ folding: TextFolding) {
    var folded: [UInt8] = []
    literal.withUnsafeBytes { folding.fold($0, into: &folded) }
    elements.append(contentsOf: folded.lazy.map(Element.byte))
    literal.removeAll()
  }

  /// Returns true if the pattern matches the whole text. O(text × pattern), without allocation.
  package func matches(_ text: UnsafeRawBufferPointer) -> Bool {
    var position = 0
    var next = 0
    // The last run that was met: what follows it in the pattern, and where its text ends so far.
    // An earlier run needs no second try: if a longer one of it fits, so does a longer one of this.
    var afterRun: Int?
    var runEnd = 0
    while true {
      if next < elements.count, elements[next] == .anyRun {
        next += 1
        afterRun = next
        runEnd = position
        continue
      }
      if position == text.count, next == elements.count { return true }
      if position < text.count, next < elements.count {
        if elements[next] == .anyScalar {
          position = scalarEnd(text, from: position)
          next += 1
          continue
        }
        if elements[next] == .byte(text[position]) {
          position += 1
          next += 1
          continue
        }
      }
      guard let afterRun, runEnd < text.count else { return false }
      runEnd = scalarEnd(text, from: runEnd)
      position = runEnd
      next = afterRun
    }
  }

  /// A scalar has up to three continuation bytes. In ill-formed texts, any byte begins one.
  private func scalarEnd(_ text: UnsafeRawBufferPointer, from start: Int) -> Int {
    var end = start + 1
    while end < text.count, end - start < 4, UTF8.isContinuation(text[end]) { end += 1 }
    return end
  }
}
