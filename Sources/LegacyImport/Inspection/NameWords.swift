/// The words of a name of the source: `last_modified`, `lastModified` and `LASTModified` have two.
struct NameWords: Hashable, Sendable {
  /// In lower case; letters and digits of ASCII.
  let words: [String]

  init(_ name: String) {
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

  init(words: [String]) { self.words = words }

  private static let lengthMax = 256

  var joined: String { words.joined() }

  /// `lastModified`
  var camelCase: String {
    guard let first = words.first else { return "" }
    return first + words.dropFirst().map(Self.capitalized).joined()
  }

  /// `LastModified`
  var capitalizedCamelCase: String { words.map(Self.capitalized).joined() }

  private static func capitalized(_ word: String) -> String {
    word.prefix(1).uppercased() + word.dropFirst()
  }
}

/// Names that are taken in a schema; gives out others.
struct TargetNames: Sendable {
  private static let lengthMax = 63
  private var taken: Set<String> = []

  /// The name, or the first of name2, name3 … that is free.
  ///
  /// - Parameter name: Letters and digits of ASCII.
  /// - Parameter otherwise: What takes the place of an empty name, and stands before a digit.
  mutating func free(_ name: String, otherwise: String) -> String {
    let isName = name.first.map { $0.isASCII && $0.isLetter } ?? false
    let base = isName ? name : otherwise + name
    var candidate = String(base.prefix(Self.lengthMax))
    var number = 2
    // Small and capital letters are told apart by a schema, and not by people.
    while !taken.insert(candidate.lowercased()).inserted {
      let suffix = String(number)
      candidate = base.prefix(Self.lengthMax - suffix.count) + suffix
      number += 1
    }
    return candidate
  }
}
