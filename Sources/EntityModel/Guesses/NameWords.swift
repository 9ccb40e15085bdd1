/// The words of a name in a source: `last_modified`, `lastModified` and `LASTModified` have two
/// each.
package struct NameWords: Hashable, Sendable {
  /// The words in lower case; they consist of ASCII letters and digits.
  package let words: [String]

  package init(_ name: String) {
    var words: [String] = []
    var word = ""
    var previous: Character = "_"
    let characters = Array(name.prefix(Self.lengthMax))
    for (place, character) in characters.enumerated() {
      let next = place + 1 < characters.count ? characters[place + 1] : "_"
      let isLetterOrDigit = character.isASCII && (character.isLetter || character.isNumber)
      let startsWord =
        character.isUppercase && (previous.isLowercase || previous.isNumber || next.isLowercase)
      if !isLetterOrDigit || startsWord, !word.isEmpty {
        words.append(word)
        word = ""
      }
      if isLetterOrDigit { word += character.lowercased() }
      previous = character
    }
    if !word.isEmpty { words.append(word) }
    self.words = words
  }

  package init(words: [String]) { self.words = words }

  private static let lengthMax = 256

  package var joined: String { words.joined() }

  /// The words joined as in `lastModified`.
  package var camelCase: String {
    guard let first = words.first else { return "" }
    return first + words.dropFirst().map(Self.capitalized).joined()
  }

  /// The words joined as in `LastModified`.
  package var capitalizedCamelCase: String { words.map(Self.capitalized).joined() }

  private static func capitalized(_ word: String) -> String {
    word.prefix(1).uppercased() + word.dropFirst()
  }
}
