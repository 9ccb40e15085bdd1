import Foundation

/// The terms that the glossary replaces by others.
struct ExcludedTerms: Equatable, Sendable {
  /// Words and phrases in lower case, excluded in doc comments and as parts of names.
  let words: Set<String>
  /// Names that are excluded as they stand, in either case of the first letter.
  let names: Set<String>
  private let longest: Int

  /// The table of the page Glossary, or the list below as long as there is no page.
  static let glossary = ExcludedTerms(glossary: page) ?? listed

  private static let page: String? = {
    let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
      .deletingLastPathComponent()
    let path = root.path + "/Sources/Mooring/Mooring.docc/Glossary.md"
    return FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }()

  /// Reads the table of the section "Excluded terms". Returns nil without such a table.
  ///
  /// The first column lists words, phrases and names in backticks, separated by commas. A word with
  /// a remark in parentheses is excluded in one meaning only, which no test can see: it is skipped.
  init?(glossary: String?) {
    guard let glossary else { return nil }
    let lines = glossary.split(separator: "\n", omittingEmptySubsequences: false)
    guard
      let start = lines.firstIndex(where: { $0.hasPrefix("#") && $0.hasSuffix("Excluded terms") })
    else { return nil }
    let section = lines[(start + 1)...].prefix { !$0.hasPrefix("#") }
    let rows = section.filter { $0.hasPrefix("|") }.dropFirst(2)
    self.init(rows.flatMap { Self.terms(inCell: $0.split(separator: "|").first ?? "") })
  }

  private static func terms(inCell cell: Substring) -> [String] {
    var terms = [""]
    var depth = 0
    for character in cell {
      if character == "(" { depth += 1 }
      if character == ")" { depth -= 1 }
      if character == ",", depth == 0 {
        terms.append("")
      } else {
        terms[terms.count - 1].append(character)
      }
    }
    return terms.map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { $0.hasPrefix("`") || !$0.contains("(") }
  }

  init(_ terms: [String]) {
    var words: Set<String> = []
    var names: Set<String> = []
    for term in terms where !term.isEmpty {
      if term.hasPrefix("`") {
        let name = term.trimmingCharacters(in: ["`"]).prefix { $0 != "(" }
        names.insert(Self.uncapitalized(String(name)))
      } else {
        words.formUnion(Self.forms(of: Self.parts(of: term)))
      }
    }
    self.words = words
    self.names = names
    longest = words.map { $0.split(separator: " ").count }.max() ?? 0
  }

  /// The excluded terms in the file's name, in the names that it declares and in its doc comments.
  func uses(_ file: SourceFile) -> [String] {
    guard file.isSwift else { return [] }
    var found: [String] = []
    let fileName = String(file.name.prefix { $0 != "." })
    for name in [fileName] + file.folders {
      if let term = term(inName: name) { found.append("\(file.path): is named \(name) (\(term))") }
    }
    for (name, line) in DeclaredNames.names(in: file.tokens) {
      if let term = term(inName: name) { found.append("\(file.path):\(line): \(name) (\(term))") }
    }
    for comment in file.docComments {
      for term in terms(inText: comment.text) {
        found.append("\(file.path):\(comment.line): doc comment says \"\(term)\"")
      }
    }
    return found
  }

  /// The excluded name that `name` is, or the excluded word that is one of its parts.
  private func term(inName name: String) -> String? {
    if names.contains(Self.uncapitalized(name)) { return name }
    return terms(in: Self.parts(of: name)).first
  }

  private func terms(inText text: String) -> [String] {
    terms(in: text.lowercased().split { !$0.isLetter && $0 != "'" && $0 != "-" }.map(String.init))
  }

  private func terms(in parts: [String]) -> [String] {
    var found: [String] = []
    for start in parts.indices {
      var phrase = ""
      for part in parts[start...].prefix(longest) {
        phrase += phrase.isEmpty ? part : " " + part
        if words.contains(phrase) { found.append(phrase) }
      }
    }
    return found
  }

  /// The words of a phrase or of a name in camel case, in lower case.
  private static func parts(of name: String) -> [String] {
    var parts: [String] = []
    var part = ""
    var wasLower = false
    for character in name {
      if !character.isLetter || (character.isUppercase && wasLower) {
        if !part.isEmpty { parts.append(part) }
        part = ""
      }
      if character.isLetter { part += character.lowercased() }
      wasLower = character.isLowercase
    }
    return part.isEmpty ? parts : parts + [part]
  }

  private static func uncapitalized(_ name: String) -> String {
    name.prefix(1).lowercased() + name.dropFirst()
  }

  /// The term as it is, and with the endings of plurals and verbs at its first word.
  private static func forms(of parts: [String]) -> [String] {
    guard let first = parts.first else { return [] }
    let stem = first.hasSuffix("e") ? String(first.dropLast()) : first
    let rest = parts.dropFirst().map { " " + $0 }.joined()
    return [first, first + "s", stem + "ed", stem + "ing"].map { $0 + rest }
  }

  private static let listed = ExcludedTerms([
    "anew", "behind", "board", "landed", "holdOut", "commit rider", "ride", "commit ticker",
    "doorbell", "feed outlook", "frontier", "go over", "gone over", "`Guarded`",
    "`isTyped`", "doubt learned", "foremost of each", "keepPlace", "kept plans", "kept rows",
    "meanwhile", "mend", "owesOthers", "said values", "settle", "stand still", "steer",
    "stock taking", "taken along", "take along", "tell", "told", "whoever",
  ])
}

/// The names that a file declares.
enum DeclaredNames {
  private static let keywords: Set = [
    "struct", "class", "enum", "protocol", "actor", "typealias", "func", "var", "let", "case",
    "associatedtype",
  ]

  static func names(in tokens: [Token]) -> [(String, Int)] {
    var found: [(String, Int)] = []
    for index in tokens.indices.dropLast() {
      guard let word = tokens[index].word else { continue }
      let isMember = index > 0 && tokens[index - 1].isSymbol(".")
      guard !isMember, keywords.contains(word) || word == "init" else { continue }
      var next = index + 1
      if word != "init" {
        guard let name = tokens[next].word else { continue }
        found.append((name, tokens[next].line))
        next += 1
      }
      if word == "func" || word == "init" || word == "case" {
        found += parameters(in: tokens, from: next)
      }
    }
    return found
  }

  /// The labels and names between the parentheses that follow.
  private static func parameters(in tokens: [Token], from start: Int) -> [(String, Int)] {
    var index = start
    if index < tokens.count, tokens[index].isSymbol("<") {
      while index < tokens.count, !tokens[index].isSymbol("(") { index += 1 }
    }
    guard index < tokens.count, tokens[index].isSymbol("(") else { return [] }
    var found: [(String, Int)] = []
    var depth = 0
    while index < tokens.count {
      let token = tokens[index]
      if token.isSymbol("(") { depth += 1 }
      if token.isSymbol(")") { depth -= 1 }
      if depth == 0 { break }
      if token.isSymbol(":"), depth == 1 {
        for name in [index - 2, index - 1] {
          if let word = tokens[name].word { found.append((word, tokens[name].line)) }
        }
      }
      index += 1
    }
    return found
  }
}
