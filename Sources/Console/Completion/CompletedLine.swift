package import ArgumentParser

/// A command line with a word that a shell wants to complete.
package struct CompletedLine {
  /// All words without the quotes of the shell, the name of the program first.
  package let words: [String]
  /// The word to complete, as far as it is typed.
  package let word: String
  /// The characters of the word that the shell takes for words of their own, and keeps.
  private let keptCount: Int
  private let shell: CompletionShell?

  /// - Parameter words: The words as the shell has them. Those of bash are parted at `:` and `=`.
  /// - Parameter index: The index of the word to complete.
  package init(_ words: [String], at index: Int, for shell: CompletionShell?) {
    var joined: [String] = []
    var place = (word: 0, kept: 0)
    for (number, word) in words.enumerated() {
      let isPart = shell == .bash && number > 1 && !joined.isEmpty
      let continues = isPart && (Self.isMark(word) || Self.isMark(words[number - 1]))
      let kept = continues ? joined[joined.count - 1].count : 0
      if continues { joined[joined.count - 1] += word } else { joined.append(word) }
      // After a mark the shell completes a new word, although the mark is the last one it has.
      let isKept = continues && Self.isMark(word)
      if number <= index { place = (joined.count - 1, isKept ? kept + word.count : kept) }
    }
    self.words = joined.map(Self.unquoted)
    word = joined.isEmpty || index >= words.count ? "" : self.words[place.word]
    keptCount = index >= words.count ? 0 : place.kept
    self.shell = shell
  }

  private static func isMark(_ word: String) -> Bool {
    !word.isEmpty && word.allSatisfy { $0 == ":" || $0 == "=" }
  }

  private static func unquoted(_ word: String) -> String {
    guard let first = word.first, first == "'" || first == "\"" else { return word }
    let rest = word.dropFirst()
    return String(rest.last == first ? rest.dropLast() : rest)
  }

  /// The value of an option, if the line has it.
  package func value(of option: String) -> String? {
    for (word, next) in zip(words, words.dropFirst() + [""]) {
      if word == option { return next }
      if word.hasPrefix(option + "=") { return String(word.dropFirst(option.count + 1)) }
    }
    return nil
  }

  /// Returns the values that continue the word, in the form that the shell reads.
  ///
  /// A shell must neither part a value nor run what is in it: names and URLs come from outside.
  package func answers(_ values: [Completion]) -> [String] {
    values.filter { $0.value.hasPrefix(word) && !$0.value.contains(where: \.isHiddenOrBlank) }
      .prefix(Self.answersMax).map(answer)
  }

  private static let answersMax = 1_000

  private func answer(_ completion: Completion) -> String {
    let value = completion.value
    let note = completion.note.map { $0.singleLine }
    switch shell {
    case .zsh:
      let escaped = value.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
      return note.map { "\(escaped):\($0)" } ?? escaped
    case .fish: return note.map { "\(value)\t\($0)" } ?? value
    default:
      // bash expands the words of a list before it compares them.
      return "'" + value.dropFirst(keptCount).replacing("'", with: #"'\''"#) + "'"
    }
  }
}

/// A value that a shell offers.
package struct Completion {
  let value: String
  /// A description of the value, which zsh and fish show.
  let note: String?

  package init(_ value: String, _ note: String? = nil) {
    self.value = value
    self.note = note
  }
}

extension Character {
  fileprivate var isHiddenOrBlank: Bool {
    isWhitespace || unicodeScalars.contains { $0.properties.generalCategory == .control }
  }
}
