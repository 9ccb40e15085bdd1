package import ArgumentParser
import TextFormats

/// A command line with a word that a shell wants to complete.
package struct CompletedLine {
  /// All words without the quotes of the shell, the name of the program first.
  package let words: [String]
  /// The word to complete, as far as it is typed; of `--option=value` the value.
  package let word: String
  private let shell: CompletionShell?

  /// - Parameter words: The words as they are typed.
  /// - Parameter index: The index of the word to complete.
  package init(_ words: [String], at index: Int, for shell: CompletionShell?) {
    self.words = words.map(Self.unquoted)
    let word = self.words.indices.contains(index) ? self.words[index] : ""
    let equals = word.hasPrefix("--") ? word.firstIndex(of: "=") : nil
    self.word = equals.map { String(word[word.index(after: $0)...]) } ?? word
    self.shell = shell
  }

  /// Returns what a word of a shell stands for. Its last quotation mark may be missing.
  private static func unquoted(_ word: String) -> String {
    var text = ""
    var mark: Character?
    var isEscaped = false
    for character in word {
      if isEscaped {
        text.append(character)
        isEscaped = false
      } else if character == "\\", mark != "'" {
        isEscaped = true
      } else if character == mark {
        mark = nil
      } else if mark == nil, character == "'" || character == "\"" {
        mark = character
      } else {
        text.append(character)
      }
    }
    return text
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
      let escaped = value.escaping("\\", as: "\\\\").escaping(":", as: "\\:")
      return note.map { "\(escaped):\($0)" } ?? escaped
    case .fish: return note.map { "\(value)\t\($0)" } ?? value
    default:
      // bash expands the words of a list before it compares them.
      return "'" + value.escaping("'", as: #"'\''"#) + "'"
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
