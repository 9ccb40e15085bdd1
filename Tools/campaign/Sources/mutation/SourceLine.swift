/// A line of source with the places in it that can be changed so that it still compiles.
struct SourceLine {
  /// A change: the text before and after it, and the rest of the line on both sides.
  struct Change {
    let kind: Kind
    let prefix: String
    let before: String
    let after: String
    let suffix: String
  }

  enum Kind: String, CaseIterable {
    case negation, boundary, equality, conjunction, constant, call
  }

  let text: String
  /// The lines around it, without indentation: only a whole statement can be left out.
  let previous: String
  let next: String

  /// The changes of the line, each with the number by which it is switched on.
  func changes() -> [Change] {
    let code = Self.withoutComment(text)
    guard !code.contains("\""), !code.contains("//") else { return [] }
    return changesOfCondition(code) + changesOfConstants(code) + changeOfCall(code)
  }

  // MARK: Conditions

  private func changesOfCondition(_ code: String) -> [Change] {
    guard let (prefix, condition, suffix) = Self.condition(in: code) else { return [] }
    let isPlain = !Self.wordsOfOthers.contains { condition.contains($0) }
    guard isPlain, condition != "true", Self.topLevel(condition).split(",").count == 1 else {
      return []
    }
    var changes: [Change] = []
    func add(_ kind: Kind, _ after: String) {
      changes.append(
        Change(kind: kind, prefix: prefix, before: condition, after: after, suffix: suffix))
    }
    if !prefix.contains("return") { add(.negation, "!(\(condition))") }
    for (kind, before, after) in Self.exchanges {
      let parts = Self.topLevel(condition).split(before)
      guard parts.count == 2 else { continue }
      add(kind, parts[0] + after + parts[1])
    }
    return changes
  }

  /// The words of conditions that are left as they are: they bind, or they may end in an error.
  private static let wordsOfOthers = [
    "let ", "var ", "case ", "#available", "{", "try ", "await ", " is ", " as", "?? ",
  ]

  private static let exchanges: [(Kind, String, String)] = [
    (.boundary, " < ", " <= "), (.boundary, " <= ", " < "), (.boundary, " > ", " >= "),
    (.boundary, " >= ", " > "), (.equality, " == ", " != "), (.equality, " != ", " == "),
    (.conjunction, " && ", " || "), (.conjunction, " || ", " && "),
  ]

  /// Splits `if …{`, `guard … else {`, `while … {` and `return …` around the condition.
  private static func condition(in code: String) -> (String, String, String)? {
    for (start, end) in [("if ", " {"), ("while ", " {"), ("guard ", " else {"), ("return ", "")] {
      let indentation = String(code.prefix { $0 == " " })
      let rest = code.dropFirst(indentation.count)
      guard rest.hasPrefix(start) else { continue }
      let body = rest.dropFirst(start.count)
      // `if a { return b }` is on one line.
      let place = end.isEmpty ? body.endIndex : body.firstRange(of: end)?.lowerBound
      guard let place, !body[..<place].isEmpty else { return nil }
      let condition = String(body[..<place])
      if start == "return " {
        let isComplete = exchanges.contains { condition.contains($0.1) }
        guard isComplete, !condition.contains("{"), isBalanced(condition) else { return nil }
      }
      guard isBalanced(condition) else { return nil }
      return (indentation + start, condition, String(body[place...]))
    }
    return nil
  }

  // MARK: Constants and calls

  private func changesOfConstants(_ code: String) -> [Change] {
    for (before, after) in [(" + 1", " + 0"), (" - 1", " - 0")] {
      guard let range = code.firstRange(of: before),
        code[range.upperBound...].first.map({ !$0.isNumber && !"._".contains($0) }) ?? true,
        // An operator may not begin or end a line of a longer expression.
        code[..<range.lowerBound].last.map({ $0 != " " }) ?? false
      else { continue }
      return [
        Change(
          kind: .constant, prefix: String(code[..<range.lowerBound]) + before.prefix(3),
          before: String(before.suffix(1)), after: String(after.suffix(1)),
          suffix: String(code[range.upperBound...]))
      ]
    }
    return []
  }

  /// A call whose result is not used, between two other statements.
  private func changeOfCall(_ code: String) -> [Change] {
    let statement = code.drop { $0 == " " }
    let called = statement.hasPrefix("try ") ? statement.dropFirst(4) : statement
    guard let first = called.first, first.isLetter, first.isLowercase, called.last == ")",
      let open = called.firstIndex(of: "("),
      called[..<open].allSatisfy({ $0.isLetter || $0.isNumber || $0 == "." }),
      Self.isBalanced(String(called)),
      // Not several calls in a chain, whose result may be needed.
      Self.topLevel(String(called[open...])).split(").").count == 1
    else { return [] }
    let name = called[..<open]
    guard
      !["self.init", "super.init", "precondition", "assert", "fatalError", "switch", "init"]
        .contains(String(name)),
      Self.endsStatement(previous), Self.beginsStatement(next)
    else { return [] }
    let indentation = String(code.prefix { $0 == " " })
    return [
      Change(
        kind: .call, prefix: indentation, before: String(statement), after: "left out", suffix: "")
    ]
  }

  private static func endsStatement(_ line: String) -> Bool {
    guard let last = line.last else { return false }
    let opens = ["if ", "for ", "} else", "while ", "do "].contains(where: line.hasPrefix)
    return last == "}" || (last == ")" && !line.hasPrefix("@")) || (last == "{" && opens)
      || (line.hasPrefix("let ") && (last.isLetter || last.isNumber))
  }

  private static func beginsStatement(_ line: String) -> Bool {
    ["let ", "var ", "if ", "guard ", "return", "for ", "try ", "while ", "defer "]
      .contains { line.hasPrefix($0) }
  }

  // MARK: Text

  private static func withoutComment(_ text: String) -> String {
    guard let comment = text.firstRange(of: "  // ") else { return text }
    return String(text[..<comment.lowerBound])
  }

  private static func isBalanced(_ text: String) -> Bool {
    var depth = 0
    for character in text {
      if "([{".contains(character) { depth += 1 }
      if ")]}".contains(character) { depth -= 1 }
      if depth < 0 { return false }
    }
    return depth == 0
  }

  private static func topLevel(_ text: String) -> TopLevel { TopLevel(text: text) }
}

/// A text that is split only outside of its brackets.
private struct TopLevel {
  let text: String

  func split(_ separator: String) -> [String] {
    var parts: [String] = []
    var depth = 0
    var start = text.startIndex
    var place = text.startIndex
    while place < text.endIndex {
      if "([{".contains(text[place]) { depth += 1 }
      if ")]}".contains(text[place]) { depth -= 1 }
      if depth <= 0, text[place...].hasPrefix(separator) {
        parts.append(String(text[start..<place]))
        place = text.index(place, offsetBy: separator.count)
        start = place
      } else {
        place = text.index(after: place)
      }
    }
    return parts + [String(text[start...])]
  }
}
